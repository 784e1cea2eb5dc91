// Align: both sides are typed; the model's attention and probabilities for that very translation.

import { attentionFigures } from "./attention.js";
import { ask, isOffline } from "./api.js";
import { fitHeight, h, note, percent, written } from "./dom.js";
import { between } from "./words.js";

const WAIT_TYPING = 250; // milliseconds after the last key

/** The body of a request for one pair. */
export function alignBody(model, source, target) {
  return { model, sources: source, targets: target, alpha: true };
}

/** Each word with its probability: the product of those of its tokens. */
function wordProbabilities({ tokens, target_words: words, token_log_probs: logProbs, text, link_units: units }) {
  const labels = units[1] === "characters" ? [] : text.split(/\s+/u).filter(Boolean);
  const sums = new Map();
  tokens.forEach((token, k) => {
    const key = labels.length && words[k] !== null ? words[k] : `token ${k}`;
    const before = sums.get(key) ?? { name: labels[words[k]] ?? token, logProb: 0 };
    sums.set(key, { ...before, logProb: before.logProb + (logProbs[k] ?? 0) });
  });
  return [...sums.values()];
}

/** A field for the other side: what is typed is kept in `settings`, `onchange` is told of it, and `draw` shows it. */
function targetField(settings, onchange, draw) {
  const field = h("textarea", { id: "target", rows: 1, dir: "auto", "aria-label": "Its translation", autocomplete: "off", spellcheck: "false", placeholder: "Type a translation of the text above" });
  field.value = settings.target;
  field.readOnly = isOffline();
  const typed = () => { settings.target = field.value.replace(/\s*\n\s*/g, " "); onchange(settings.target); return draw(); };
  let timer = null;
  field.addEventListener("input", () => { fitHeight(field); settings.own = true; clearTimeout(timer); timer = setTimeout(typed, WAIT_TYPING); });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    clearTimeout(timer);
    typed();
  });
  requestAnimationFrame(() => fitHeight(field));
  return { field, typed };
}

/** What draws the answer for the typed pair into `results`: `show` makes the parts of it. */
function asker({ model, text, hint }, settings, results, show) {
  let running = null;
  return async () => {
    running?.abort();
    running = new AbortController();
    if (!settings.target.trim()) { results.replaceChildren(note(hint)); return; }
    try {
      results.replaceChildren(...show(await ask("align", alignBody(model, text, settings.target), running.signal)));
    } catch (error) {
      if (error.name !== "AbortError") results.replaceChildren(h("p", { class: "error", role: "alert" }, error.message));
    }
  };
}

/** The view of a translator. */
export function alignView({ model, text, translation }, settings, onchange) {
  if (settings.text !== text && settings.own !== true) settings.target = translation.text;
  settings.text = text;
  const results = h("div", { class: "aligned" });
  const reset = h("button", { type: "button", onclick: () => { settings.own = false; field.value = translation.text; typed(); } }, "The model's own");
  const draw = asker({ model, text, hint: "Type a translation, and see how the model aligns it with the text." }, settings, results, (pair) => [
    h("p", { class: "facts" }, `log p ${written(pair.log_prob, 2)}${settings.target === translation.text ? "" : `; the model's own translation ${written(translation.log_prob, 2)}`}`),
    h("p", { class: "cells-line", "aria-label": "Probability of each word" }, ...wordProbabilities(pair).flatMap(({ name, logProb }) => [h("span", {
      class: "positive", css: { "--share": `${Math.round(60 * Math.exp(logProb))}%` },
    }, h("small", { dir: "auto" }, name), percent(Math.exp(logProb))), " "])),
    pair.alpha ? attentionFigures(between(pair, pair.alpha, true)) : note("This model has no attention."),
  ]);
  const compute = () => { reset.disabled = settings.target === translation.text; return draw(); };
  const { field, typed } = targetField(settings, onchange, compute);
  compute();
  return h("div", { class: "align" }, h("div", { class: "own-target" }, field, isOffline() ? null : reset), results);
}

/** The view of an aligner: both directions as one, √(α→ α←), and its links. */
export function pairView({ model, text }, settings, onchange) {
  settings.target ??= "";
  const results = h("div", { class: "aligned" });
  const draw = asker({ model, text, hint: "Type a translation of the text above, and see which words go together." }, settings, results, (pair) => {
    if (!pair.source.length) return [note("Type a text above.")];
    const alpha = pair.forward.map((row, i) => row.map((weight, j) => Math.sqrt(weight * pair.backward[i][j])));
    return [attentionFigures({ source: pair.source, target: pair.target, alpha }, { links: pair.links })];
  });
  const { field } = targetField(settings, onchange, draw);
  draw();
  return h("div", { class: "align" }, h("div", { class: "own-target" }, field), results);
}
