// States: any quantity of a trace over the words, unit by unit; attention over the past; and steps projected by PCA.

import { figure, h, note, s, textWidth, written } from "./dom.js";
import { attentionFigures } from "./attention.js";

function sections(trace) {
  return trace.sections.filter(({ parts, steps }) => steps.length > 1 && parts.some(({ axis, key }) => axis === "units" && key in steps[0].values));
}

function ordered(section) {
  return [...section.steps].sort((a, b) => a.position - b.position);
}

function flat(values) {
  return Array.isArray(values?.[0]) ? values.flat() : values;
}

/** The correlation of two rows of numbers. */
function correlation(a, b) {
  const mean = (row) => row.reduce((sum, value) => sum + value, 0) / row.length;
  const [ma, mb] = [mean(a), mean(b)];
  let [ab, aa, bb] = [0, 0, 0];
  a.forEach((value, k) => { ab += (value - ma) * (b[k] - mb); aa += (value - ma) ** 2; bb += (b[k] - mb) ** 2; });
  return aa * bb > 0 ? ab / Math.sqrt(aa * bb) : 0;
}

function picker(label, options, chosen, onchange) {
  const select = h("select", { onchange: () => onchange(select.value) }, ...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return h("label", { class: "field" }, h("span", {}, label), select);
}

/** A map of units over words; a click chooses a unit. */
function unitMap(words, rows, chosen, onpick) {
  const cell = Math.max(3, Math.min(30, Math.floor(960 / rows.length)));
  const rowHeight = 26;
  const left = Math.ceil(Math.max(...words.map((word) => textWidth(word, 13)))) + 12;
  const greatest = Math.max(...rows.flat().map((value) => Math.abs(value ?? 0)), 1e-9);
  const [width, height] = [left + cell * rows.length + 1, words.length * rowHeight + 18];
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "units", "aria-label": `Values of ${rows.length} units over ${words.length} words` });
  words.forEach((word, t) => {
    picture.append(s("text", { class: "word", x: left - 8, y: t * rowHeight + rowHeight / 2, "text-anchor": "end", "dominant-baseline": "central" }, word));
    rows.forEach((values, unit) => picture.append(s("rect", {
      class: (values[t] ?? 0) >= 0 ? "positive" : "negative", x: left + unit * cell, y: t * rowHeight + 1, width: cell - (cell > 5 ? 1 : 0), height: rowHeight - 2,
      "fill-opacity": (0.9 * Math.abs(values[t] ?? 0) / greatest).toFixed(3), "data-unit": unit,
    })));
  });
  if (chosen !== null) picture.append(s("rect", { class: "frame", x: left + chosen * cell - 1, y: 0, width: cell + 1, height: words.length * rowHeight }));
  [0, ...Array.from({ length: Math.floor((rows.length - 1) / 16) }, (_, k) => (k + 1) * 16)].forEach((unit) =>
    picture.append(s("text", { class: "small", x: left + (unit + 0.5) * cell, y: height - 4, "text-anchor": "middle" }, unit)));
  picture.addEventListener("click", (event) => { const unit = event.target.dataset?.unit; if (unit !== undefined) onpick(Number(unit)); });
  return picture;
}

/** The view of states; `settings` keeps what was chosen. */
export function statesView(trace, settings) {
  const all = sections(trace);
  if (!all.length) return note("This trace has no recurrence over words.");
  const panel = h("div", {});
  const show = () => {
    const section = all.find(({ key }) => key === settings.section) ?? all.at(-1);
    const parts = section.parts.filter((part) => part.axis === "units" && part.key in section.steps[0].values);
    const part = parts.find(({ key }) => key === settings.part) ?? parts.findLast(({ name }) => /state/.test(name)) ?? parts.at(-1);
    const steps = ordered(section);
    const words = steps.map((step) => step.output && !step.token ? step.output : step.token);
    const values = steps.map((step) => flat(step.values[part.key]));
    const rows = values[0].map((_, unit) => values.map((row) => row[unit] ?? 0));
    const unit = settings.unit !== null && settings.unit < rows.length ? settings.unit : null;
    const number = h("input", { type: "number", min: 0, max: rows.length - 1, value: unit ?? "", placeholder: "none", onchange: () => { settings.unit = number.value === "" ? null : Math.max(0, Math.min(rows.length - 1, Number(number.value))); show(); } });
    const children = [h("div", { class: "controls" },
      picker("Part", all.map(({ key, title }) => [key, title]), section.key, (value) => { settings.section = value; show(); }),
      picker("Quantity", parts.map(({ key, name, layer }) => [key, `${name.replaceAll("_", " ")}${layer && new Set(parts.map((each) => each.layer).filter(Boolean)).size > 1 ? ` ${layer}` : ""}`]), part.key, (value) => { settings.part = value; show(); }),
      h("label", { class: "field" }, h("span", {}, "Unit"), number)),
    figure(`${section.title}: ${part.name.replaceAll("_", " ")}`, h("div", { class: "scroll" }, unitMap(words, rows, unit, (chosen) => { settings.unit = settings.unit === chosen ? null : chosen; show(); })))];
    if (unit !== null) {
      const alike = rows.map((row, k) => [k, correlation(rows[unit], row)]).filter(([k]) => k !== unit).sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])).slice(0, 6);
      children.push(h("h2", {}, `Unit ${unit}`), h("p", { class: "cells-line" }, ...words.flatMap((word, t) => [h("span", {
        class: rows[unit][t] >= 0 ? "positive" : "negative", css: { "--share": `${Math.round(70 * Math.abs(rows[unit][t]) / Math.max(...rows[unit].map(Math.abs), 1e-9))}%` },
      }, h("small", { dir: "auto" }, word), written(rows[unit][t], 2)), " "])),
      h("p", { class: "soft" }, "Units that behave alike over these words, by correlation: ",
        ...alike.flatMap(([k, r]) => [h("button", { type: "button", class: "chip", onclick: () => { settings.unit = k; show(); } }, `${k}  ${written(r, 2)}`), " "])));
    } else children.push(h("p", { class: "soft" }, "Choose a unit in the picture, or by its number, to see units that behave alike."));
    const past = section.parts.find(({ axis, name }) => axis === "past" && /alpha/.test(name));
    if (past) {
      const inOrder = section.steps;
      const rowsOfPast = inOrder.map((step) => { const row = step.values[past.key] ?? []; return Array.isArray(row[0]) ? row[0].map((_, k) => row.reduce((sum, each) => sum + each[k], 0) / row.length) : row; });
      const widest = Math.max(...rowsOfPast.map((row) => row.length), 0);
      const labels = inOrder.reduce((longest, step) => (step.past.length > longest.length ? step.past : longest), []);
      if (widest && labels.length >= widest)
        children.push(h("h2", {}, "Reading: attention over what was read before"),
          attentionFigures({ source: labels.slice(0, widest), target: inOrder.map((step) => step.token), alpha: rowsOfPast.map((row) => Array.from({ length: widest }, (_, k) => row[k] ?? 0)) }, { only: "heatmap", name: "Reading " }));
    }
    panel.replaceChildren(...children);
  };
  settings.unit ??= null;
  show();
  return panel;
}

/** The first two principal components of rows: [[x, y], …] and the share of variance of each, by power iteration. */
export function principal(rows) {
  const n = rows[0].length;
  const mean = rows[0].map((_, k) => rows.reduce((sum, row) => sum + row[k], 0) / rows.length);
  let centred = rows.map((row) => row.map((value, k) => value - mean[k]));
  const total = centred.flat().reduce((sum, value) => sum + value * value, 0) || 1;
  const axes = [];
  const shares = [];
  for (let component = 0; component < 2; component += 1) {
    let axis = Array.from({ length: n }, (_, k) => Math.sin(k + 1 + component));
    for (let turn = 0; turn < 200; turn += 1) {
      const along = centred.map((row) => row.reduce((sum, value, k) => sum + value * axis[k], 0));
      const next = axis.map((_, k) => centred.reduce((sum, row, t) => sum + row[k] * along[t], 0));
      const length = Math.hypot(...next);
      if (!length) break;
      axis = next.map((value) => value / length);
    }
    const along = centred.map((row) => row.reduce((sum, value, k) => sum + value * axis[k], 0));
    centred = centred.map((row, t) => row.map((value, k) => value - along[t] * axis[k]));
    axes.push(along);
    shares.push(along.reduce((sum, value) => sum + value * value, 0) / total);
  }
  return { points: rows.map((_, t) => [axes[0][t], axes[1][t]]), shares };
}

function scatter(words, points, path, name) {
  const [width, height, edge] = [560, 380, 40];
  const range = (k) => { const values = points.map((point) => point[k]); const [low, high] = [Math.min(...values), Math.max(...values)]; return [low, high - low || 1]; };
  const [[x0, dx], [y0, dy]] = [range(0), range(1)];
  const place = points.map(([x, y]) => [edge + ((x - x0) / dx) * (width - 2 * edge - 60), height - edge - ((y - y0) / dy) * (height - 2 * edge)]);
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "scatter", "aria-label": `${name} projected: ${words.join(", ")}` },
    path ? s("path", { class: "branch", d: `M${place.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}` }) : null,
    ...place.map(([x, y], k) => s("g", {}, s("circle", { class: "dot", cx: x, cy: y, r: 4 }), s("text", { class: "word", x: x + 8, y, "dominant-baseline": "central" }, words[k]))));
}

/** The view of neighbours: steps of a section where the first two principal components put them. */
export function neighboursView(trace, settings) {
  const all = sections(trace);
  const panel = h("div", {});
  const show = () => {
    const section = all.find(({ key }) => key === settings.section) ?? all.find(({ key }) => key === "annotations") ?? all.at(-1);
    const parts = section.parts.filter((part) => part.axis === "units" && part.key in section.steps[0].values);
    const part = parts.find(({ key }) => key === settings.part) ?? parts.findLast(({ name }) => /state|annotation/.test(name)) ?? parts.at(-1);
    const steps = ordered(section);
    const words = steps.map((step) => step.output ?? step.token);
    const rows = steps.map((step) => flat(step.values[part.key]));
    const { points, shares } = principal(rows);
    const cosine = (a, b) => { const dot = (p, q) => p.reduce((sum, value, k) => sum + value * q[k], 0); return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1); };
    panel.replaceChildren(h("div", { class: "controls" },
      picker("Part", all.map(({ key, title }) => [key, title]), section.key, (value) => { settings.section = value; show(); }),
      picker("Quantity", parts.map(({ key, name }) => [key, name.replaceAll("_", " ")]), part.key, (value) => { settings.part = value; show(); })),
    h("div", { class: "pair" },
      figure(`Projection of ${part.name.replaceAll("_", " ")}`, h("div", { class: "scroll" }, scatter(words, points, true, part.name)),
        h("p", { class: "soft" }, `Two principal components, with ${Math.round(100 * shares[0])} % and ${Math.round(100 * shares[1])} % of the variance; the line is the order of the words.`)),
      h("div", { class: "scroll" }, h("table", {}, h("caption", {}, "Nearest steps of the sentence, by cosine"),
        h("tbody", {}, ...rows.map((row, k) => h("tr", {}, h("th", { scope: "row", dir: "auto" }, words[k]),
          h("td", {}, rows.map((other, j) => [cosine(row, other), words[j], j]).filter(([, , j]) => j !== k).sort((a, b) => b[0] - a[0]).slice(0, 3).map(([value, word]) => `${word} ${written(value, 2)}`).join(", ")))))))));
  };
  show();
  return panel;
}
