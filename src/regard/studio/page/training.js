// The curves of a model's training, as its folder has them now; those of the other models of the studio beside them.

import { askLog } from "./api.js";
import { figure, h, note, s, written } from "./dom.js";

const EVERY = 2000; // milliseconds between two looks at a run that has not ended
const SHOWN = ["loss", "bleu", "chrf", "accuracy", "macro_f1", "exact_match", "perplexity", "word_perplexity", "token_accuracy", "exposure_gap"];

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
      if (row.event === "train") add("training loss", model, row.update, row.loss);
      if (row.event === "validation") for (const name of SHOWN) if (name in row) add(`validation ${name.replaceAll("_", " ")}`, model, row.update, row[name]);
    }
  }
  return curves;
}

function chart(name, lines, current) {
  const [width, height, left, bottom] = [380, 210, 46, 22];
  const all = [...lines.values()].flat();
  const [x1, low, high] = [Math.max(...all.map(([x]) => x), 1), Math.min(...all.map(([, y]) => y)), Math.max(...all.map(([, y]) => y))];
  const span = high - low || Math.abs(high) || 1;
  const x = (update) => left + (update / x1) * (width - left - 8);
  const y = (value) => 10 + ((high - value) / span) * (height - bottom - 20);
  const latest = lines.get(current)?.at(-1);
  const decimals = span >= 20 ? 0 : span >= 1 ? 1 : 3;
  return figure(`${name[0].toUpperCase()}${name.slice(1)}${latest ? `  ${written(latest[1], 3)}` : ""}`,
    s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "curves", "aria-label": `${name}: ${[...lines].map(([model, points]) => `${model} ${written(points.at(-1)[1], 3)} after ${points.at(-1)[0]} updates`).join(", ")}` },
      ...[low, high].map((value) => s("g", {}, s("path", { class: "rule", d: `M${left} ${y(value)}H${width - 8}` }), s("text", { class: "small", x: left - 6, y: y(value), "text-anchor": "end", "dominant-baseline": "central" }, written(value, decimals)))),
      s("text", { class: "small", x: width - 8, y: height - 4, "text-anchor": "end" }, `${x1.toLocaleString("en")} updates`),
      ...[...lines].sort(([a]) => (a === current ? 1 : -1)).map(([model, points]) => s("g", { class: model === current ? "curve now" : "curve" },
        s("path", { d: `M${points.map(([update, value]) => `${x(update).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}` }),
        ...(points.length <= 12 ? points.map(([update, value]) => s("circle", { cx: x(update), cy: y(value), r: 2.6 })) : []), s("title", {}, model)))));
}

/** The view; it looks again while it is shown, until all runs have ended. */
export function trainingView(models, current) {
  const panel = h("div", { class: "training" });
  const show = async () => {
    const logs = await Promise.all(models.map(async ({ name }) => [name, await askLog(name)]));
    const known = logs.filter(([, rows]) => rows.length);
    if (!known.length) { panel.replaceChildren(note("These folders have no training log.")); return; }
    const own = logs.find(([name]) => name === current)[1];
    const last = own.at(-1);
    const ended = known.every(([, rows]) => rows.at(-1).event === "end");
    panel.replaceChildren(
      h("p", { class: "facts" }, last ? `${current}: ${last.update.toLocaleString("en")} updates${last.seconds ? `, ${Math.round(last.seconds)} s` : ""}${last.event === "end" ? `, ${last.stopped}` : ", in progress"}` : "",
        known.length > 1 ? `; in grey: ${known.map(([name]) => name).filter((name) => name !== current).join(", ")}` : ""),
      h("div", { class: "pair" }, ...[...curvesOf(known)].map(([name, lines]) => chart(name, lines, current))));
    if (!ended) setTimeout(() => { if (panel.isConnected) show().catch(() => {}); }, EVERY);
  };
  return show().then(() => panel);
}
