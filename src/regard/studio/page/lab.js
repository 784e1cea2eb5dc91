// Results of the lab: each claim, its verdict and its figures.

import { h } from "./dom.js";

/** The view of results, as the lab's folder has them. */
export function labView(results) {
  return h("div", { class: "lab" }, ...results.map((result) => h("section", { "aria-label": result.title },
    h("h2", {}, result.title),
    h("p", {}, result.claim), h("p", { class: "facts" }, result.source),
    h("p", { class: "verdict" }, h("b", {}, result.verdict.word), result.unregistered ? h("span", { class: "soft" }, ` (${result.unregistered})`) : null, " ", result.verdict.because),
    h("div", { class: "figures" }, ...result.figures.map(({ name, caption }) => h("figure", { "data-name": name },
      h("img", { src: `lab/${encodeURIComponent(result.name)}/${encodeURIComponent(name)}.svg`, alt: caption, loading: "lazy" }), h("figcaption", {}, caption)))))));
}
