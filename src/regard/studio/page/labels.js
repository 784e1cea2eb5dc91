// Classifiers and taggers: probabilities, and the words that they rest on.

import { bars, shadedWords } from "./attention.js";
import { figure, h, percent, written } from "./dom.js";

/** A classification: its probabilities, and the weights of its words where the model pools by attention. */
export function classificationView(result) {
  const ranked = Object.entries(result.probabilities).sort((a, b) => b[1] - a[1]).slice(0, 12);
  return h("div", { class: "labels" },
    figure("Probabilities", bars(ranked.map(([label, p]) => [label, p, percent(p)]), { chosen: result.label })),
    ...result.tokens.map((tokens, k) => result.alpha?.[k]?.length ? figure(result.tokens.length > 1 ? `Attention, text ${k + 1}` : "Attention",
      shadedWords(tokens, result.alpha[k].slice(0, tokens.length), "Words by their weight"),
      h("p", { class: "soft" }, tokens.map((token, i) => [result.alpha[k][i], token]).sort((a, b) => b[0] - a[0]).slice(0, 4).map(([weight, token]) => `${token} ${written(weight, 2)}`).join(", "))) : null));
}

/** A tagging: each word above its tag, fainter where the model is less sure. */
export function taggingView(result) {
  return h("div", { class: "labels" }, figure("Tags", h("p", { class: "tags", dir: "auto" }, ...result.words.map((word, k) =>
    h("span", {}, h("b", {}, word), h("span", { class: "tag", css: { "--share": `${Math.round(12 + 48 * result.probabilities[k])}%` } }, result.tags[k]), h("small", {}, percent(result.probabilities[k])))))));
}
