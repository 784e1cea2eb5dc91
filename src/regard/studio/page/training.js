// The training of a model: curves as its folder has them now, beside those of other runs, and what its newest weights make
// of some validation examples.

import { attentionFigures, shadedWords } from "./attention.js";
import { ask, askLog, renew } from "./api.js";
import { choice, figure, h, note, percent, s, written } from "./dom.js";
import { between, differences } from "./words.js";

const EVERY = 2000; // milliseconds between two looks at a run that has not ended
const SCORES = { loss: "loss", wer: "WER", per: "PER", bleu: "BLEU", chrf: "chrF", accuracy: "accuracy", macro_f1: "macro F1", sentence_accuracy: "sentence accuracy", exact_match: "exact match", aer: "alignment error rate", perplexity: "perplexity", word_perplexity: "perplexity per word", token_accuracy: "token accuracy", exposure_gap: "exposure gap" };
const PER_CENT = new Set(["wer", "per", "accuracy", "macro_f1", "sentence_accuracy", "exact_match", "aer", "token_accuracy", "exposure_gap"]);

/** Curves by their name: [[update, value], …] of each model. */
function curvesOf(logs) {
  const curves = new Map();
  const add = (name, model, update, value) => {
    if (typeof value !== "number") return;
    const lines = curves.get(name) ?? curves.set(name, new Map()).get(name);
    (lines.get(model) ?? lines.set(model, []).get(model)).push([update, value]);
  };
  for (const [model, rows] of logs) {
    for (const row of rows) {
      if (row.event === "train") add("Training loss", model, row.update, row.loss);
      if (row.event === "validation") for (const [name, label] of Object.entries(SCORES)) {
        if (typeof row[name] !== "number") continue;
        if (PER_CENT.has(name)) add(`Validation ${label} (%)`, model, row.update, 100 * row[name]);
        else add(`Validation ${label}`, model, row.update, row[name]);
      }
    }
  }
  return curves;
}

function chart(name, lines, colours) {
  const [width, height, left, bottom] = [380, 210, 50, 22];
  const all = [...lines.values()].flat();
  const [x1, low, high] = [Math.max(...all.map(([x]) => x), 1), Math.min(...all.map(([, y]) => y)), Math.max(...all.map(([, y]) => y))];
  const span = high - low || Math.abs(high) || 1;
  const x = (update) => left + (update / x1) * (width - left - 8);
  const y = (value) => 10 + ((high - value) / span) * (height - bottom - 20);
  const decimals = span >= 20 ? 0 : span >= 1 ? 1 : 3;
  const readout = h("p", { class: "readout" }, "\u00a0");
  const cursor = s("path", { class: "cursor", hidden: true });
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "curves", "aria-label": `${name}: ${[...lines].map(([model, points]) => `${model} ${written(points.at(-1)[1], 3)} after ${points.at(-1)[0]} updates`).join(", ")}` },
    ...[low, high].map((value) => s("g", {}, s("path", { class: "rule", d: `M${left} ${y(value)}H${width - 8}` }), s("text", { class: "small", x: left - 6, y: y(value), "text-anchor": "end", "dominant-baseline": "central" }, written(value, decimals)))),
    s("text", { class: "small", x: left, y: height - 4 }, "0"), s("text", { class: "small", x: width - 8, y: height - 4, "text-anchor": "end" }, `${x1.toLocaleString("en")} updates`),
    cursor, ...[...lines].map(([model, points]) => s("g", { class: `curve run-${colours.get(model)}`, "data-model": model },
      s("path", { d: `M${points.map(([update, value]) => `${x(update).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}` }),
      ...(points.length <= 12 ? points.map(([update, value]) => s("circle", { cx: x(update), cy: y(value), r: 2.6 })) : []))));
  const last = [...lines].map(([model, points]) => [model, points.at(-1)]);
  const say = (found) => { readout.replaceChildren(...found.flatMap(([model, [update, value]]) => [h("span", { class: `key run-${colours.get(model)}` }), `${written(value, 3)} after ${update.toLocaleString("en")}  `])); };
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const update = ((((event.clientX - box.left) / box.width) * width - left) / (width - left - 8)) * x1;
    const nearest = [...lines].map(([model, points]) => [model, points.reduce((best, point) => (Math.abs(point[0] - update) < Math.abs(best[0] - update) ? point : best))]);
    cursor.removeAttribute("hidden");
    cursor.setAttribute("d", `M${x(nearest[0][1][0])} 4V${height - bottom}`);
    say(nearest);
  });
  picture.addEventListener("pointerleave", () => { cursor.setAttribute("hidden", ""); say(last); });
  say(last);
  return figure(name, picture, readout);
}

function marked(text, reference) {
  const [own] = differences(text.split(/\s+/u).filter(Boolean), reference.split(/\s+/u).filter(Boolean));
  return text.split(/\s+/u).filter(Boolean).flatMap((word, k) => [own[k] ? h("mark", {}, word) : word, " "]);
}

/** What a task's route gave for an example: in a line, whether it is right, and its picture where there is one. */
const OUTPUTS = {
  translate: (result, reference) => ({ line: marked(result.text, reference), right: result.text === reference, picture: result.alpha ? () => attentionFigures(between(result, result.alpha, true)) : null }),
  classify: (result, reference) => ({ line: [h(result.label === reference ? "span" : "mark", {}, result.label), ` ${percent(result.probabilities[result.label] ?? 0)}`], right: result.label === reference,
    picture: result.alpha?.[0]?.length ? () => h("div", {}, ...result.tokens.map((tokens, k) => shadedWords(tokens, result.alpha[k].slice(0, tokens.length), "Words by their weight"))) : null }),
  tag: (result, reference) => ({ line: marked(result.tags.join(" "), reference), right: result.tags.join(" ") === reference, picture: null }),
  language_model: (result) => ({ line: [result.text], right: true, picture: null }),
};

/** What the newest weights make of some examples; the ones that were seen before can be looked at again. */
function outputsView({ task, name, update: shown }, seen, settings, redraw) {
  const latest = seen.at(-1);
  if (latest.problem) return [h("p", { class: "soft" }, `No outputs to show: ${latest.problem}.`)];
  const answer = seen.find(({ update }) => update === settings.update) ?? latest;
  const load = async () => { await renew(name); location.reload(); };
  const drawn = answer.outputs.map(({ reference, result }) => OUTPUTS[task](result, reference));
  return [h("h2", {}, task === "language_model" ? "Sampled lines " : `Outputs for ${answer.label} examples `, h("span", { class: "soft" }, answer.update === null ? "" : `after update ${answer.update.toLocaleString("en")}`)),
    latest.update > shown ? h("p", { class: "row" }, h("span", { class: "soft" }, `The other views show update ${shown.toLocaleString("en")}.`),
      h("button", { type: "button", onclick: () => load().catch((error) => redraw(error)) }, "Load the newest weights")) : null,
    settings.problem ? h("p", { class: "error", role: "alert" }, settings.problem) : null,
    seen.length > 1 ? h("div", { class: "controls" }, choice("After update", seen.map(({ update }) => [update, update.toLocaleString("en")]), answer.update, (update) => { settings.update = update === latest.update ? null : update; redraw(); })) : null,
    h("ol", { class: "outputs" }, ...answer.outputs.map(({ text, reference }, k) => h("li", {},
      text ? h("p", { class: "soft", dir: "auto" }, text) : null, h("p", { dir: "auto" }, ...(drawn[k].line.length ? drawn[k].line : ["\u2205"])),
      drawn[k].right ? null : h("p", { class: "soft", dir: "auto" }, `reference: ${reference}`),
      drawn[k].picture ? h("button", { type: "button", class: "chip", "aria-pressed": String(k === settings.example), onclick: () => { settings.example = k === settings.example ? null : k; redraw(); } }, "Attention") : null,
      k === settings.example && drawn[k].picture ? drawn[k].picture() : null)))];
}

/** The view; it looks again while it is shown, until all runs have ended. `settings` keeps what was chosen and seen. */
export function trainingView(models, model, settings) {
  const current = model.name;
  const panel = h("div", { class: "training" });
  const charts = h("div", {});
  const outputs = h("div", {});
  settings.hidden ??= new Set();
  settings.seen ??= [];
  if (settings.example === undefined) settings.example = 0;
  const colours = new Map([current, ...models.map(({ name }) => name).filter((name) => name !== current)].map((name, k) => [name, k % 6]));
  const drawOutputs = (error = null) => {
    settings.problem = error?.message ?? null;
    if (settings.seen.length) outputs.replaceChildren(...outputsView(model, settings.seen, settings, drawOutputs).filter(Boolean));
  };
  const tryOut = async () => {
    if (model.task === "align") return; // whose examples are pairs
    const answer = await ask("progress", { model: current }, undefined, true);
    if (answer.update !== settings.seen.at(-1)?.update || answer.problem !== settings.seen.at(-1)?.problem) {
      settings.seen = [...settings.seen.filter(({ problem }) => !problem), answer].slice(-12);
      drawOutputs();
    }
  };
  const show = async () => {
    const logs = await Promise.all(models.map(async ({ name }) => [name, await askLog(name)]));
    const known = logs.filter(([, rows]) => rows.length);
    const own = logs.find(([name]) => name === current)[1];
    const last = own.at(-1);
    const ended = known.every(([, rows]) => rows.at(-1).event === "end");
    const draw = () => {
      if (!known.length) { charts.replaceChildren(note("This folder has no training log.")); return; }
      const shown = known.filter(([name]) => !settings.hidden.has(name));
      const seconds = last?.seconds ? `, ${Math.round(last.seconds).toLocaleString("en")} s` : "";
      charts.replaceChildren(
        h("p", { class: "facts" }, last ? `${last.update.toLocaleString("en")} updates${seconds}${last.event === "end" ? `; ended: ${last.stopped}` : "; in progress"}` : "This model's folder has no training log."),
        known.length > 1 ? h("div", { class: "controls legend", role: "group", "aria-label": "Runs" }, ...known.map(([name]) => {
          const box = h("input", { type: "checkbox", onchange: () => { settings.hidden[box.checked ? "delete" : "add"](name); draw(); } });
          box.checked = !settings.hidden.has(name);
          return h("label", { class: "check" }, box, h("span", { class: `key run-${colours.get(name)}` }), name);
        })) : "",
        h("div", { class: "pair" }, ...[...curvesOf(shown)].map(([name, lines]) => chart(name, lines, colours))));
    };
    draw();
    if (!ended) setTimeout(() => { if (panel.isConnected) Promise.all([show(), tryOut()]).catch(() => {}); }, EVERY);
  };
  drawOutputs();
  panel.append(charts, outputs);
  return Promise.all([show(), tryOut()]).then(() => panel);
}
