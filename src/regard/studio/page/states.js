// States: any quantity of a trace over the words, unit by unit. Units that are on over a range of words are selected, and
// searched for in the sentences of the training. Reading: where each word attends in what was read before.

import { attentionFigures } from "./attention.js";
import { searchCorpus } from "./api.js";
import { figure, h, note, s, textWidth, written } from "./dom.js";
import { meanRow } from "./steps.js";

const ROW_HEIGHT = 26;
const MOST_CHIPS = 32;

/** The sections that have states over several steps. */
export function sections(trace) {
  return trace.sections.filter(({ parts, steps }) => steps.length > 1 && parts.some(({ axis, key }) => axis === "units" && key in steps[0].values));
}

/** What is chosen of a trace: a section and one of its quantities, with the steps in the order of the words. */
export function chosenPart(all, settings, preferred) {
  const section = all.find(({ key }) => key === settings.section) ?? all.find(({ key }) => key === preferred) ?? all.at(-1);
  const parts = section.parts.filter((part) => part.axis === "units" && part.key in section.steps[0].values);
  const part = parts.find(({ key }) => key === settings.part) ?? parts.findLast(({ name }) => /state|annotation/.test(name)) ?? parts.at(-1);
  const steps = [...section.steps].sort((a, b) => a.position - b.position);
  const words = steps.map((step) => (section.key.startsWith("decoder") && step.output ? step.output : step.token));
  const vectors = steps.map((step) => step.values[part.key]).map((values) => (Array.isArray(values[0]) ? values.flat() : values).map((value) => value ?? 0));
  return { section, part, parts, steps, words, vectors };
}

function picker(label, options, chosen, onchange) {
  const select = h("select", { onchange: () => onchange(select.value) }, ...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return h("label", { class: "field" }, h("span", {}, label), select);
}

function nameOf({ name, layer }, parts) {
  const layers = new Set(parts.map((each) => each.layer).filter(Boolean));
  return `${name.replaceAll("_", " ")}${layer && layers.size > 1 ? ` ${layer}` : ""}`;
}

/** The choice of a section and of a quantity. */
export function partPickers(all, { section, part, parts }, onchange) {
  return [
    picker("Part", all.map(({ key, title }) => [key, title]), section.key, (value) => onchange({ section: value })),
    picker("Quantity", parts.map((each) => [each.key, nameOf(each, parts)]), part.key, (value) => onchange({ part: value })),
  ];
}

/** How far a search is, in words. */
export function searched({ read, total, label }) {
  const all = total.toLocaleString("en");
  return read < total ? `${read.toLocaleString("en")} of ${all} ${label} sentences searched \u2026` : `${all} ${label} sentences searched`;
}

/** A sentence that was found: its words, those of the place marked, shaded where units are on; a click opens it. */
export function foundSentence({ text, words, first, last, value, active }, most, open) {
  const line = words.flatMap((word, k) => [
    h(k >= first && k <= last ? "mark" : "span", { css: active.length ? { "--share": `${Math.round((60 * active[k]) / Math.max(most, 1))}%` } : {}, title: active.length ? `${active[k]} of ${most} units` : null }, word), " "]);
  const link = (name, ...inside) => h("a", { class: name, dir: "auto", href: `?q=${encodeURIComponent(text)}`, onclick: (event) => { if (!event.ctrlKey && !event.metaKey && open) { event.preventDefault(); open(text); } } }, ...inside);
  const same = words.filter((word) => !/^<.*>$/.test(word)).join(" ") === text;
  return h("li", {}, h("span", { class: "value" }, written(value, 2)),
    h("span", {}, ...(same ? [link("found", ...line)] : [h("span", { class: "found", dir: "auto" }, ...line), link("source", text)])));
}

/** The values as pixels: a column for each unit, a row for each word. */
function pixels(rows, cell) {
  const canvas = document.createElement("canvas");
  const scale = 2;
  [canvas.width, canvas.height] = [scale * cell * rows[0].length, scale * ROW_HEIGHT * rows.length];
  const ink = canvas.getContext("2d");
  const style = getComputedStyle(document.documentElement);
  const colours = ["--more", "--less"].map((name) => style.getPropertyValue(name).trim());
  const greatest = Math.max(...rows.map((row) => Math.max(...row.map(Math.abs))), 1e-9);
  const gap = cell > 5 ? 1 : 0;
  rows.forEach((row, t) => row.forEach((value, unit) => {
    ink.globalAlpha = (0.9 * Math.abs(value)) / greatest;
    ink.fillStyle = colours[value >= 0 ? 0 : 1];
    ink.fillRect(scale * unit * cell, scale * (t * ROW_HEIGHT + 1), scale * (cell - gap), scale * (ROW_HEIGHT - 2));
  }));
  return canvas.toDataURL();
}

/** A map of units over words: a click chooses a unit, a stroke over words a range of them. */
function unitMap(words, rows, { onunit, onrange }) {
  const count = rows[0].length;
  const cell = Math.max(3, Math.min(30, Math.floor(960 / count)));
  const left = Math.ceil(Math.min(Math.max(...words.map((word) => textWidth(word, 14, 600))), 200)) + 16;
  const top = 12;
  const [width, height] = [left + cell * count + 1, top + words.length * ROW_HEIGHT + 18];
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "units", "aria-label": `Values of ${count} units over ${words.length} words` });
  const labels = words.map((word, t) => s("text", { class: "word", x: left - 12, y: top + (t + 0.5) * ROW_HEIGHT, "text-anchor": "end", "dominant-baseline": "central" }, word));
  const bar = s("rect", { class: "range", x: left - 7, width: 3, rx: 1.5, hidden: true });
  const marks = s("g", {});
  const hits = words.map((_, t) => s("rect", { class: "hit word-row", x: 0, y: top + t * ROW_HEIGHT, width: left - 2, height: ROW_HEIGHT, "data-t": t }));
  const area = s("rect", { class: "hit unit-area", x: left, y: top, width: cell * count, height: words.length * ROW_HEIGHT });
  picture.append(s("image", { href: pixels(rows, cell), x: left, y: top, width: cell * count, height: words.length * ROW_HEIGHT, preserveAspectRatio: "none" }),
    ...Array.from({ length: Math.ceil(count / 16) }, (_, k) => s("text", { class: "small", x: left + (16 * k + 0.5) * cell, y: height - 4, "text-anchor": "middle" }, 16 * k)),
    ...labels, bar, marks, ...hits, area);
  const readout = h("p", { class: "readout" }, "\u00a0");
  const unitAt = (event) => {
    const box = area.getBoundingClientRect();
    return [Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - box.left) / box.width) * count))), Math.max(0, Math.min(words.length - 1, Math.floor(((event.clientY - box.top) / box.height) * words.length)))];
  };
  area.addEventListener("click", (event) => onunit(unitAt(event)[0]));
  area.addEventListener("pointermove", (event) => { const [unit, t] = unitAt(event); readout.textContent = `unit ${unit} at ${words[t]}  ${written(rows[t][unit])}`; });
  area.addEventListener("pointerleave", () => { readout.textContent = "\u00a0"; });
  hits.forEach((hit, start) => hit.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    const to = (next) => Math.max(0, Math.min(words.length - 1, Math.floor(((next.clientY - hits[0].getBoundingClientRect().top) / hit.getBoundingClientRect().height))));
    const move = (next) => mark([Math.min(start, to(next)), Math.max(start, to(next))], []);
    const up = (next) => {
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", up);
      document.removeEventListener("pointercancel", up);
      onrange([Math.min(start, to(next)), Math.max(start, to(next))]);
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", up);
    document.addEventListener("pointercancel", up);
    move(event);
  }));
  const mark = (range, units) => {
    bar.toggleAttribute("hidden", !range);
    if (range) { bar.setAttribute("y", top + range[0] * ROW_HEIGHT + 1); bar.setAttribute("height", (range[1] - range[0] + 1) * ROW_HEIGHT - 2); }
    labels.forEach((label, t) => label.classList.toggle("on", Boolean(range) && t >= range[0] && t <= range[1]));
    const [y, tall] = range ? [top + range[0] * ROW_HEIGHT, (range[1] - range[0] + 1) * ROW_HEIGHT] : [top, words.length * ROW_HEIGHT];
    marks.replaceChildren(...units.flatMap((unit) => {
      const x = left + (unit + 0.5) * cell;
      return [s("path", { class: "tick", d: `M${x - 3.5} 2L${x + 3.5} 2L${x} 9Z` }), s("rect", { class: "frame", x: left + unit * cell - 0.5, y, width: cell, height: tall })];
    }));
  };
  return { picture, readout, mark };
}

/** Units that are on at all words of a range; where `edges`, off at the words just before and after it. */
export function unitsOn(vectors, [first, last], { threshold, below, edges }) {
  const on = (t, unit) => (below ? vectors[t][unit] <= -threshold : vectors[t][unit] >= threshold);
  const outside = edges ? [first - 1, last + 1].filter((t) => t >= 0 && t < vectors.length) : [];
  return vectors[0].map((_, unit) => unit).filter((unit) => {
    for (let t = first; t <= last; t += 1) if (!on(t, unit)) return false;
    return !outside.some((t) => on(t, unit));
  });
}

function correlation(a, b) {
  const mean = (row) => row.reduce((sum, value) => sum + value, 0) / row.length;
  const [ma, mb] = [mean(a), mean(b)];
  let [ab, aa, bb] = [0, 0, 0];
  a.forEach((value, k) => { ab += (value - ma) * (b[k] - mb); aa += (value - ma) ** 2; bb += (b[k] - mb) ** 2; });
  return aa * bb > 0 ? ab / Math.sqrt(aa * bb) : 0;
}

/** Over this sentence alone, for a model whose data are not here. */
function alikeHere(vectors, units) {
  const given = vectors.map((row) => units.reduce((sum, unit) => sum + row[unit], 0) / units.length);
  return vectors[0].map((_, unit) => [unit, correlation(given, vectors.map((row) => row[unit]))]).filter(([unit]) => !units.includes(unit))
    .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 8);
}

/** Where each word attends in what was read before: every layer and direction whose cells have a memory. */
export function readingView(trace) {
  const figures = trace.sections.flatMap((section) => section.parts.filter(({ axis, name }) => axis === "past" && name === "alpha").flatMap((part, _, all) => {
    const rows = section.steps.map((step) => meanRow(step.values[part.key] ?? []));
    const labels = section.steps.reduce((longest, step) => (step.past.length > longest.length ? step.past : longest), []);
    const widest = Math.max(...rows.map((row) => row.length), 0);
    if (!widest || labels.length < widest) return [];
    const title = `${section.title}${all.length > 1 ? `, layer ${part.layer}` : ""}`;
    const data = { source: labels.slice(0, widest), target: section.steps.map((step) => step.token), alpha: rows.map((row) => Array.from({ length: widest }, (_, k) => row[k] ?? 0)) };
    return [h("h2", {}, title, h("span", { class: "soft" }, " from the words on the right to those read before them")), attentionFigures(data, { name: `${title}, ` })];
  }));
  return figures.length ? h("div", { class: "reading" }, ...figures) : note("The text is too short: no word has another before it.");
}

/** The view; `settings` keeps what was chosen, `context` has the body of a search without its units, and `open`. */
export function statesView(trace, settings, context) {
  const all = sections(trace);
  if (!all.length) return note("This trace has no recurrence over words.");
  const panel = h("div", { class: "states" });
  let running = new AbortController();

  const show = () => {
    const chosen = chosenPart(all, settings);
    const { section, part, parts, words, vectors } = chosen;
    const greatest = Math.max(...vectors.map((row) => Math.max(...row.map(Math.abs))), 1e-6);
    settings.threshold ??= Math.round(40 * greatest) / 100;
    if (settings.range?.[1] >= words.length) settings.range = null;
    const map = unitMap(words, vectors, {
      onrange: (range) => { Object.assign(settings, { range, picked: null }); update(); },
      onunit: (unit) => { const now = units(); settings.picked = now.includes(unit) ? now.filter((each) => each !== unit) : [...(settings.picked ?? []), unit]; update(); },
    });
    const units = () => (settings.picked ?? (settings.range ? unitsOn(vectors, settings.range, settings) : [])).filter((unit) => unit < vectors[0].length);
    const options = [["", "none"], ...words.map((word, t) => [String(t), `${t + 1} ${word}`])];
    const end = (label, k) => {
      const select = h("select", { onchange: () => {
        const at = select.value === "" ? null : Number(select.value);
        const other = settings.range?.[1 - k] ?? at;
        Object.assign(settings, { picked: null, range: at === null ? null : k ? [Math.min(other, at), at] : [at, Math.max(other, at)] });
        update();
      } }, ...options.map(([value, text]) => h("option", { value }, text)));
      return [select, h("label", { class: "field" }, h("span", {}, label), select)];
    };
    const [[first, firstField], [last, lastField]] = [end("First word", 0), end("Last word", 1)];
    const threshold = h("input", { type: "range", min: 0, max: greatest, step: "any", value: settings.threshold, "aria-label": "Threshold", oninput: () => { settings.threshold = Number(threshold.value); if (settings.range) settings.picked = null; update(300); } });
    const value = h("output", {});
    const check = (label, name) => {
      const box = h("input", { type: "checkbox", onchange: () => { settings[name] = box.checked; if (settings.range) settings.picked = null; update(); } });
      box.checked = Boolean(settings[name]);
      return h("label", { class: "check" }, box, label);
    };
    const selection = h("div", { "aria-live": "polite" });
    const results = h("div", { class: "results-of-search", "aria-busy": "false" });
    const update = (wait = 0) => {
      const on = units();
      first.value = String(settings.range?.[0] ?? "");
      last.value = String(settings.range?.[1] ?? "");
      value.textContent = `${settings.below ? "\u2264 \u2212" : "\u2265 "}${written(settings.threshold, 2)}`;
      map.mark(settings.range, on);
      selection.replaceChildren(...describe(on));
      running.abort();
      running = new AbortController();
      const { signal } = running;
      results.setAttribute("aria-busy", String(on.length > 0));
      if (on.length) setTimeout(() => { if (!signal.aborted) find(on, signal); }, wait);
      else results.replaceChildren();
    };
    const chip = (unit, text, label, onclick) => h("button", { type: "button", class: "chip", "aria-label": label, onclick }, text);
    const describe = (on) => {
      if (!on.length && !settings.range) return [h("p", { class: "soft" }, "Draw over some words, or choose them above: the units that stay on over all of them are searched for in the training data. A click on the picture chooses a unit by itself.")];
      const where = settings.range ? `over \u201c${words.slice(settings.range[0], settings.range[1] + 1).join(" ")}\u201d` : "";
      const count = `${on.length} ${on.length === 1 ? "unit" : "units"}`;
      if (!on.length) return [h("h2", {}, "No unit is on ", h("span", { class: "soft" }, `${where}: lower the threshold, or choose fewer words`))];
      return [h("h2", {}, settings.picked ? `${count} chosen` : `${count} on `, h("span", { class: "soft" }, settings.picked ? "" : where)),
        h("div", { class: "chips", role: "group", "aria-label": "Units" }, ...on.slice(0, MOST_CHIPS).map((unit) => chip(unit, String(unit), `Unit ${unit}: leave it out`, () => { settings.picked = on.filter((each) => each !== unit); update(); })),
          on.length > MOST_CHIPS ? h("span", { class: "soft" }, `and ${on.length - MOST_CHIPS} more`) : null),
        on.length === 1 ? h("p", { class: "cells-line" }, ...words.flatMap((word, t) => [h("span", {
          class: vectors[t][on[0]] >= 0 ? "positive" : "negative", css: { "--share": `${Math.round((70 * Math.abs(vectors[t][on[0]])) / Math.max(...vectors.map((row) => Math.abs(row[on[0]])), 1e-9))}%` },
        }, h("small", { dir: "auto" }, word), written(vectors[t][on[0]], 2)), " "])) : null].filter(Boolean);
    };
    const alikeLine = (pairs, over) => h("p", { class: "soft alike" }, `Units that behave alike ${over}, by correlation: `,
      ...pairs.flatMap(([unit, r]) => [chip(unit, `${unit}  ${written(r, 2)}`, `Unit ${unit}  ${written(r, 2)}: choose it`, () => { Object.assign(settings, { picked: [unit], range: null }); update(); }), " "]));
    const find = (on, signal) => {
      const length = settings.range && !settings.picked ? settings.range[1] - settings.range[0] + 1 : 1;
      const body = { ...context.body, section: section.key, part: part.key, units: on, threshold: Number(settings.threshold.toFixed(4)), below: Boolean(settings.below), edges: Boolean(settings.edges), length };
      searchCorpus("match", body, (answer) => {
        if (!panel.isConnected) { running.abort(); return; }
        results.setAttribute("aria-busy", String(Boolean(answer) && answer.read < answer.total));
        if (!answer || answer.problem) {
          results.replaceChildren(alikeLine(alikeHere(vectors, on), "over these words"), h("p", { class: "soft" }, answer ? `Other sentences are not searched: ${answer.problem}.` : "Other sentences were not searched when this page was saved."));
          return;
        }
        results.replaceChildren(alikeLine(answer.alike, `over ${answer.read.toLocaleString("en")} ${answer.label} sentences`),
          h("h2", {}, "Where else they are on ", h("span", { class: "soft" }, searched(answer))),
          answer.found.length ? h("ol", { class: "matches", "aria-label": "Sentences where these units are on" }, ...answer.found.map((each) => foundSentence(each, on.length, context.open)))
            : note(answer.read < answer.total ? "None yet." : "In no other sentence: lower the threshold, or choose fewer units."),
          answer.found.length ? h("p", { class: "soft" }, `The number is the share of units in common: on in both / on in either. The shade of a word is how many of the ${on.length} are on there.`) : null);
      }, signal).catch((error) => { if (error.name !== "AbortError") results.replaceChildren(h("p", { class: "error", role: "alert" }, error.message)); });
    };
    panel.replaceChildren(
      h("div", { class: "controls" }, ...partPickers(all, chosen, (changes) => { Object.assign(settings, { range: null, picked: null, threshold: null }, changes); show(); })),
      figure(`${section.title}: ${nameOf(part, parts)}`, h("div", { class: "scroll" }, map.picture), map.readout),
      h("div", { class: "controls", role: "group", "aria-label": "Select units" }, firstField, lastField,
        h("span", { class: "soft" }, "on where"), threshold, value, check("Negative", "below"), check("Off before and after", "edges")),
      selection, results);
    update();
  };
  show();
  return panel;
}
