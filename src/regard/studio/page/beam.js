// A beam search as a tree that grows from left to right; pruned branches are pale, the best output is marked.

import { attentionFigures, bars } from "./attention.js";
import { figure, h, percent, s, textWidth, written } from "./dom.js";
import { sourceLabels } from "./words.js";

const NODE_ROW = 38;

/** Where each node is drawn: a column for each step; in it the kept ones in the order of their parents, pruned ones below. */
function layout(steps, best, pruned) {
  const rows = new Map();
  return steps.map((step) => {
    const order = (node) => rows.get(node.parent) ?? 0;
    const kept = step.filter((node) => node.fate !== "pruned").sort((a, b) =>
      best.has(b.id) - best.has(a.id) || order(a) - order(b) || b.total - a.total);
    const rest = pruned ? step.filter((node) => node.fate === "pruned").sort((a, b) => order(a) - order(b) || b.total - a.total) : [];
    const column = [...kept, ...rest];
    column.forEach((node, row) => rows.set(node.id, row));
    return column;
  });
}

function tree(steps, { pruned, grown, chosen, onpick }) {
  const nodes = new Map(steps.flat().map((node) => [node.id, node]));
  const path = (node) => (node.parent === null ? [node] : [...path(nodes.get(node.parent)), node]);
  const winner = steps.flat().filter((node) => node.fate === "finished").sort((a, b) => b.score - a.score)[0];
  const best = new Set(winner ? path(winner).map((node) => node.id) : []);
  const lineage = new Set(chosen === null ? [] : path(nodes.get(chosen)).map((node) => node.id));
  const columns = layout(steps, best, pruned);
  const value = (node) => (node.fate === "finished" ? `score ${written(node.score, 2)}` : written(node.total, 2));
  const widths = columns.map((column) => Math.max(44, ...column.map((node) => Math.max(textWidth(node.token, 14, 600), textWidth(value(node), 10.5)) + 12)));
  const gap = 46;
  const left = [];
  widths.reduce((x, width) => { left.push(x); return x + width + gap; }, 44);
  const deepest = Math.max(...columns.map((column) => column.length));
  const width = left.at(-1) + widths.at(-1) + 12;
  const height = 10 + deepest * NODE_ROW;
  const y = (row) => 8 + row * NODE_ROW + NODE_ROW / 2 - 6;
  const place = new Map();
  columns.forEach((column, t) => column.forEach((node, row) => place.set(node.id, [left[t], y(row), widths[t]])));
  const picture = s("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "group", class: "tree",
    "aria-label": "Beam search; arrow keys move from node to node, Enter shows its attention",
  });
  const branches = s("g", {});
  const groups = s("g", {});
  columns.forEach((column, t) => {
    if (t > grown) return;
    column.forEach((node, row) => {
      const [x, cy, ownWidth] = place.get(node.id);
      const [px, py] = node.parent === null ? [10, y(0)] : [place.get(node.parent)[0] + textWidth(nodes.get(node.parent).token, 14, best.has(node.parent) ? 600 : 400) + 8, place.get(node.parent)[1]];
      const kind = `${node.fate}${best.has(node.id) ? " best" : ""}${lineage.has(node.id) ? " lineage" : ""}`;
      const middle = (px + x) / 2;
      branches.append(s("path", { class: `branch ${kind}`, d: `M${px} ${py}C${middle} ${py} ${middle} ${cy} ${x - 6} ${cy}`,
        "stroke-width": (0.8 + 2.6 * Math.exp(node.log_prob ?? -9)).toFixed(2) }));
      const group = s("g", {
        class: `node ${kind}${node.id === chosen ? " chosen" : ""}`, role: "button", tabindex: node.id === (chosen ?? winner?.id ?? 0) || (t === grown && row === 0 && !place.has(winner?.id)) ? 0 : -1,
        "data-id": node.id, "data-t": t, "data-row": row, "aria-pressed": String(node.id === chosen),
        "aria-label": `${node.token} ${value(node)}, ${percent(Math.exp(node.log_prob ?? -99))}, ${node.fate}${best.has(node.id) ? ", best output" : ""}`,
        onclick: () => onpick(node.id),
      },
      s("rect", { class: "hit", x: x - 6, y: cy - 12, width: ownWidth + 8, height: NODE_ROW - 4, rx: 4 }),
      s("text", { class: "word", x, y: cy, "dominant-baseline": "central" }, node.token),
      s("text", { class: "small", x, y: cy + 18 }, value(node)));
      groups.append(group);
    });
  });
  picture.append(s("circle", { class: "root", cx: 8, cy: y(0), r: 3 }), branches, groups);
  picture.addEventListener("keydown", (event) => {
    const at = event.target.closest(".node");
    if (!at) return;
    const [t, row] = [Number(at.dataset.t), Number(at.dataset.row)];
    const next = { ArrowRight: [t + 1, row], ArrowLeft: [t - 1, row], ArrowDown: [t, row + 1], ArrowUp: [t, row - 1] }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      onpick(Number(at.dataset.id));
    } else if (next) {
      event.preventDefault();
      const [t2, row2] = [next[0], Math.min(next[1], (columns[next[0]]?.length ?? 1) - 1)];
      const found = picture.querySelector(`.node[data-t="${t2}"][data-row="${row2}"]`);
      if (found) {
        at.setAttribute("tabindex", -1);
        found.setAttribute("tabindex", 0);
        found.focus();
      }
    }
  });
  return { picture, nodes, path, winner, frontier: left[Math.min(grown, left.length - 1)] };
}

/** The view; `settings` keeps what was chosen between visits. */
export function beamView(search, settings) {
  const { steps } = search;
  const last = steps.length - 1;
  settings.grown = Math.min(settings.grown ?? last, last);
  settings.pruned ??= true;
  const nodesById = new Map(steps.flat().map((node) => [node.id, node]));
  if (!nodesById.has(settings.node)) settings.node = null;
  const stage = h("div", { class: "scroll stage" });
  const panel = h("div", { class: "nodepanel", "aria-live": "polite" });
  let timer = null;
  const play = h("button", { type: "button", class: "play", onclick: () => (timer ? pause() : start()) }, "Grow");
  const pause = () => { clearInterval(timer); timer = null; play.textContent = "Grow"; };
  const start = () => {
    settings.grown = -1;
    play.textContent = "Pause";
    timer = setInterval(() => {
      if (!stage.isConnected || settings.grown >= last) { pause(); return; }
      settings.grown += 1;
      show(false, true);
    }, 650);
  };
  const slider = h("input", { type: "range", min: 0, max: last, step: 1, "aria-label": "Steps of the search", oninput: () => { pause(); settings.grown = Number(slider.value); show(); } });
  const checkbox = h("input", { type: "checkbox", onchange: () => { settings.pruned = checkbox.checked; show(); } });
  checkbox.checked = settings.pruned;
  const show = (focus = false, follow = false) => {
    const drawn = tree(steps, { pruned: settings.pruned, grown: settings.grown, chosen: settings.node, onpick: (id) => { settings.node = settings.node === id ? null : id; show(true); } });
    const x = stage.scrollLeft;
    stage.replaceChildren(drawn.picture);
    stage.scrollLeft = follow ? drawn.frontier - stage.clientWidth / 2 : x;
    slider.value = settings.grown;
    slider.setAttribute("aria-valuetext", `${settings.grown + 1} of ${last + 1} steps`);
    const node = drawn.nodes.get(settings.node) ?? drawn.winner;
    if (node) {
      const path = drawn.path(node);
      panel.replaceChildren(
        h("h2", {}, h("span", { class: "soft" }, settings.node === null ? "Best output " : `${node.fate[0].toUpperCase()}${node.fate.slice(1)} `), h("span", { dir: "auto" }, path.map((each) => each.token).join(" "))),
        h("p", { class: "facts" }, `log p ${written(node.total, 2)}, this word ${percent(Math.exp(node.log_prob))}, score ${written(node.score, 2)}`),
        h("div", { class: "pair" },
          figure("Top words here", bars(node.alternatives.slice(0, 8).map(({ token, log_prob: logProb }) => [token, Math.exp(logProb), percent(Math.exp(logProb))]), { chosen: node.token })),
          node.alpha ? attentionFigures({ source: sourceLabels(search), target: path.map((each) => each.token), alpha: path.map((each) => each.alpha) }, { only: "heatmap" }) : null));
    }
    if (focus) stage.querySelector(`[data-id="${settings.node}"]`)?.focus();
  };
  show();
  return h("div", { class: "beam" },
    h("div", { class: "controls" }, play, slider, h("label", { class: "check" }, checkbox, "Pruned hypotheses")),
    figure("Beam search", stage), panel);
}
