// Neighbours: the states of the text among those of the training sentences, projected by PCA; the nearest of them.

import { searchCorpus } from "./api.js";
import { figure, h, note, s, textWidth, written } from "./dom.js";
import { chosenPart, foundSentence, partPickers, searched, sections } from "./states.js";

/** The first two principal components of rows: their mean, two axes, and the share of variance of each. */
export function principal(rows) {
  const mean = rows[0].map((_, k) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length);
  let centred = rows.map((row) => row.map((value, k) => value - mean[k]));
  const total = centred.flat().reduce((sum, value) => sum + value * value, 0) || 1;
  const axes = [];
  const shares = [];
  for (let component = 0; component < 2; component += 1) {
    let axis = mean.map((_, k) => Math.sin(k + 1 + component));
    for (let turn = 0; turn < 200; turn += 1) {
      const along = centred.map((row) => row.reduce((sum, value, k) => sum + value * axis[k], 0));
      const next = axis.map((_, k) => centred.reduce((sum, row, t) => sum + row[k] * along[t], 0));
      const length = Math.hypot(...next);
      if (!length) break;
      axis = next.map((value) => value / length);
    }
    const along = centred.map((row) => row.reduce((sum, value, k) => sum + value * axis[k], 0));
    centred = centred.map((row, t) => row.map((value, k) => value - along[t] * axis[k]));
    axes.push(axis);
    shares.push(along.reduce((sum, value) => sum + value * value, 0) / total);
  }
  return { mean, axes, shares };
}

/** Where components put a row. */
export function project(row, { mean, axes }) {
  return axes.map((axis) => row.reduce((sum, value, k) => sum + (value - mean[k]) * axis[k], 0));
}

/** Places for labels beside their points: to the right, unless another label is there. */
function placeLabels(places, words, limit) {
  const taken = [];
  return places.map(([x, y], k) => {
    const width = textWidth(words[k], 14);
    const choices = [[x + 8, y], [x - 8 - width, y], [x - width / 2, y - 14], [x - width / 2, y + 15]];
    const free = ([left, middle]) => left > 0 && left + width < limit && !taken.some(([a, b, c]) => left < a + c && a < left + width && Math.abs(middle - b) < 15);
    const [left, middle] = choices.find(free) ?? choices[0];
    taken.push([left, middle, width]);
    return [left, middle];
  });
}

function scatter(words, own, others, chosen, onpick) {
  const [width, height, edge] = [Math.min(640, innerWidth - 36), 420, 26];
  const all = [...own, ...others.map(([x, y]) => [x, y])];
  const range = (k) => { const values = all.map((point) => point[k]); const [low, high] = [Math.min(...values), Math.max(...values)]; return [low, high - low || 1]; };
  const [[x0, dx], [y0, dy]] = [range(0), range(1)];
  const place = ([x, y]) => [edge + ((x - x0) / dx) * (width - 2 * edge), height - edge - ((y - y0) / dy) * (height - 2 * edge)];
  const places = own.map(place);
  const labels = placeLabels(places, words, width);
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "scatter", "aria-label": `Projection of ${words.join(", ")}${others.length ? `, among ${others.length} states of other sentences` : ""}` },
    ...others.map((point) => { const [x, y] = place(point); return s("circle", { class: "other", cx: x.toFixed(1), cy: y.toFixed(1), r: 3 }, s("title", {}, `${point[2]}  \u2013  ${point[3]}`)); }),
    s("path", { class: "branch", d: `M${places.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}` }),
    ...places.map(([x, y], k) => s("g", { class: k === chosen ? "point chosen" : "point", "data-k": k, onclick: () => onpick(k) },
      s("circle", { class: "dot", cx: x, cy: y, r: k === chosen ? 6 : 4 }), s("text", { class: "word halo", x: labels[k][0], y: labels[k][1], "dominant-baseline": "central" }, words[k]))));
}

function cosine(a, b) {
  const dot = (p, q) => p.reduce((sum, value, k) => sum + value * q[k], 0);
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
}

/** The view; `settings` keeps what was chosen, `context` has the body of a search and `open`. */
export function neighboursView(trace, settings, context) {
  const all = sections(trace);
  if (!all.length) return note("This trace has no recurrence over words.");
  const panel = h("div", { class: "neighbours" });
  let running = new AbortController();
  const show = () => {
    const chosen = chosenPart(all, settings, "annotations");
    const { section, part, words, vectors } = chosen;
    const mean = vectors[0].map((_, k) => vectors.reduce((sum, row) => sum + row[k], 0) / vectors.length);
    if (settings.step === undefined || settings.step >= words.length) settings.step = Math.max(0, words.findLastIndex((word) => !/^(<.*>|\p{P}+)$/u.test(word)));
    const stage = h("div", { class: "scroll" });
    const share = h("p", { class: "soft" });
    const list = h("div", { class: "results-of-search", "aria-live": "polite" });
    const choices = h("p", { class: "sentence", role: "group", "aria-label": "Whose neighbours" });
    let components = principal(vectors);
    let others = [];
    const base = { ...context.body, section: section.key, part: part.key };
    const pick = (step) => { settings.step = step; drawChoices(); draw(); find(); };
    const drawChoices = () => choices.replaceChildren(...words.flatMap((word, k) => [h("button", { type: "button", class: "token", "aria-pressed": String(k === settings.step), onclick: () => pick(k) }, word), " "]),
      h("button", { type: "button", class: "token whole", "aria-pressed": String(settings.step === null), onclick: () => pick(null) }, "the whole sentence"));
    const draw = () => {
      stage.replaceChildren(scatter(words, vectors.map((row) => project(row, components)), others, settings.step, pick));
      const [one, two] = components.shares.map((value) => `${Math.round(100 * value)} %`);
      share.textContent = `Two principal components, with ${one} and ${two} of the variance${others.length ? " over the training sentences, whose states are grey" : " over this sentence"}; the line is the order of the words.`;
    };
    const here = () => {
      const given = settings.step === null ? mean : vectors[settings.step];
      return vectors.map((row, k) => [cosine(given, row), words[k], k]).filter(([, , k]) => k !== settings.step).sort((a, b) => b[0] - a[0]).slice(0, 4);
    };
    const find = () => {
      running.abort();
      running = new AbortController();
      const given = settings.step === null ? mean : vectors[settings.step];
      const body = { ...base, vector: given.map((value) => Number(value.toFixed(5))), whole: settings.step === null };
      list.setAttribute("aria-busy", "true");
      const name = settings.step === null ? "this sentence" : `\u201c${words[settings.step]}\u201d`;
      const line = h("p", { class: "soft" }, `In this sentence: ${here().map(([value, word]) => `${word} ${written(value, 2)}`).join(", ")}.`);
      searchCorpus("similar", body, (answer) => {
        if (!panel.isConnected) { running.abort(); return; }
        list.setAttribute("aria-busy", String(Boolean(answer) && answer.read < answer.total));
        if (!answer || answer.problem) {
          list.replaceChildren(h("h2", {}, `Nearest to ${name}`), line, h("p", { class: "soft" }, answer ? `Other sentences are not searched: ${answer.problem}.` : "Other sentences were not searched when this page was saved."));
          return;
        }
        list.replaceChildren(h("h2", {}, `Nearest to ${name} `, h("span", { class: "soft" }, `by cosine, ${searched(answer)}`)),
          h("ol", { class: "matches", "aria-label": "Nearest" }, ...answer.found.map((each) => foundSentence(settings.step === null ? { ...each, first: -1, last: -1 } : each, 0, context.open))), line);
        if (!others.length || answer.read >= answer.total) spread();
      }, running.signal).catch((error) => { if (error.name !== "AbortError") list.replaceChildren(h("p", { class: "error", role: "alert" }, error.message)); });
    };
    let spreading = false;
    const spread = () => { // the projection is drawn for the first sentences, and once more for all
      if (spreading) return;
      spreading = true;
      const once = new AbortController();
      searchCorpus("project", base, (answer) => {
        if (answer.read < answer.total) once.abort();
        if (answer.points.length && panel.isConnected) { components = answer; others = answer.points; draw(); }
      }, once.signal).catch(() => {}).finally(() => { spreading = false; });
    };
    drawChoices();
    draw();
    panel.replaceChildren(h("div", { class: "controls" }, ...partPickers(all, chosen, (changes) => { Object.assign(settings, changes); show(); })), choices,
      h("div", { class: "pair near" }, figure(`Projection of ${part.name.replaceAll("_", " ")}`, stage, share), list));
    setTimeout(find);
  };
  show();
  return panel;
}
