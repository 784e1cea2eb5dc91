// Attention as a heat map and as links between two columns of words; what is touched in one lights up in both.

import { figure, h, s, textWidth, written } from "./dom.js";

const FAINTEST = 0.01; // a weaker link is not drawn
const ROW = 30;

/** Whether a word is one character, perhaps with marks on it, which is never turned on its side. */
function isCharacter(word) {
  return [...word.replace(/\u25cc|\p{M}/gu, "")].length <= 1;
}

function strongest(labels, weights, most = 4) {
  return weights.map((weight, k) => [weight, labels[k]]).filter(([weight]) => weight >= FAINTEST)
    .sort((a, b) => b[0] - a[0]).slice(0, most).map(([weight, label]) => `${label} ${written(weight, 2)}`).join(", ");
}

function heatMap({ source, target, alpha }, links, light) {
  const widest = (words) => Math.max(...words.map((word) => (isCharacter(word) ? 14 : textWidth(word))));
  const left = Math.ceil(widest(target)) + 12;
  const top = Math.ceil(Math.min(widest(source), 220)) + 10;
  const cell = Math.max(15, Math.min(34, Math.floor(Math.min(420, innerWidth - 40 - left) / source.length)));
  const width = left + cell * source.length + 1;
  const height = top + cell * target.length + 1;
  const summary = target.map((word, i) => `${word}: ${strongest(source, alpha[i], 2)}`).join("; ");
  const picture = s("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `Attention. ${summary}`, class: "heatmap", css: { "--size": `${Math.min(14, Math.max(9, cell * 0.8))}px` },
  });
  const sources = source.map((word, j) => s("text", {
    class: "word", transform: `translate(${left + cell * (j + 0.5)} ${top - 8})${isCharacter(word) ? "" : " rotate(-90)"}`,
    "text-anchor": isCharacter(word) ? "middle" : null, "dominant-baseline": isCharacter(word) ? null : "central",
  }, word));
  const targets = target.map((word, i) => s("text", {
    class: "word", x: left - 8, y: top + cell * (i + 0.5), "text-anchor": "end", "dominant-baseline": "central",
  }, word));
  const cells = alpha.map((row, i) => row.map((weight, j) => s("rect", {
    class: "cell", x: left + cell * j, y: top + cell * i, width: cell, height: cell,
    "fill-opacity": Math.max(0, Math.min(1, weight)).toFixed(3),
    onpointerenter: () => light(i, j), onclick: () => light(i, j),
  }, s("title", {}, `${target[i]} \u2190 ${source[j]}  ${written(weight, 2)}`))));
  const rings = links.map(([j, i]) => s("circle", {
    class: "ring", cx: left + cell * (j + 0.5), cy: top + cell * (i + 0.5), r: cell * 0.3,
  }));
  const row = s("rect", { class: "lit", x: left, width: cell * source.length, height: cell, hidden: true });
  const column = s("rect", { class: "lit", y: top, height: cell * target.length, width: cell, hidden: true });
  const sheet = s("rect", { class: "sheet", x: left, y: top, width: cell * source.length, height: cell * target.length });
  picture.append(s("g", {}, ...sources, ...targets), sheet, s("g", {}, ...cells.flat()), s("g", {}, ...rings), row, column);
  const show = (i, j) => {
    row.toggleAttribute("hidden", i === null);
    column.toggleAttribute("hidden", j === null);
    if (i !== null) row.setAttribute("y", top + cell * i);
    if (j !== null) column.setAttribute("x", left + cell * j);
    targets.forEach((word, k) => word.classList.toggle("on", k === i));
    sources.forEach((word, k) => word.classList.toggle("on", k === j));
  };
  return { picture, show };
}

function linkMap({ source, target, alpha }, light, actions, only) {
  const number = 40;
  const left = number + Math.min(Math.max(...source.map((word) => textWidth(word, 15))), 170) + 10;
  const right = Math.min(Math.max(...target.map((word) => textWidth(word, 15))), 170) + 10 + number;
  const between = Math.max(110, Math.min(only ? 170 : 240, (innerWidth >= 740 ? innerWidth / 2 : innerWidth) - 40 - left - right));
  const width = Math.ceil(left + between + right);
  const rows = Math.max(source.length, target.length);
  const height = rows * ROW + 8;
  const [x0, x1] = [left + 4, left + between - 4];
  const y = (k, length) => 4 + ((rows - length) * ROW) / 2 + (k + 0.5) * ROW;
  const picture = s("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "group", class: "links",
    "aria-label": "Links between source and target words; arrow keys move from word to word",
  });
  const ribbons = [];
  alpha.forEach((row, i) => row.forEach((weight, j) => {
    if (weight < FAINTEST) return;
    const [a, b] = [y(j, source.length), y(i, target.length)];
    const path = s("path", {
      class: "ribbon", d: `M${x0} ${a}C${(x0 + x1) / 2} ${a} ${(x0 + x1) / 2} ${b} ${x1} ${b}`,
      "stroke-width": (0.8 + weight * (ROW * 0.5)).toFixed(2), "stroke-opacity": (0.05 + 0.3 * weight).toFixed(3),
    });
    ribbons.push({ path, i, j, weight });
  }));
  const side = (words, other, isSource) => words.map((word, k) => {
    const weights = isSource ? alpha.map((row) => row[k]) : alpha[k];
    const x = isSource ? left - 4 : left + between + 4;
    const value = s("text", {
      class: "weight", x: isSource ? 2 : width - 2, y: y(k, words.length), "text-anchor": isSource ? "start" : "end",
      "dominant-baseline": "central",
    });
    const label = s("text", {
      class: "word", x, y: y(k, words.length), "text-anchor": isSource ? "end" : "start", "dominant-baseline": "central",
    }, word);
    const group = s("g", {
      class: "end", role: "button", tabindex: k === 0 ? 0 : -1, "data-side": isSource ? "source" : "target", "data-k": k,
      "aria-label": `${isSource ? "source" : "target"} word ${word}: ${strongest(other, weights) || "no attention"}`,
    }, s("rect", { class: "hit", x: isSource ? 0 : left + between, y: y(k, words.length) - ROW / 2, width: isSource ? left : right, height: ROW }),
    label, value);
    const on = () => light(isSource ? null : k, isSource ? k : null);
    group.addEventListener("pointerenter", on);
    group.addEventListener("focus", on);
    group.addEventListener("click", () => { on(); actions.pick?.(isSource ? "source" : "target", k); });
    group.addEventListener("keydown", (event) => {
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (move) {
        event.preventDefault();
        focusOn(isSource ? sources : targets, k + move);
      } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        event.preventDefault();
        focusOn(event.key === "ArrowLeft" ? sources : targets, Math.min(k, (event.key === "ArrowLeft" ? sources : targets).length - 1));
      } else if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        actions.pick?.(isSource ? "source" : "target", k);
      }
    });
    return { group, label, value };
  });
  const focusOn = (words, k) => {
    if (k < 0 || k >= words.length) return;
    words.forEach(({ group }, index) => group.setAttribute("tabindex", index === k ? 0 : -1));
    words[k].group.focus();
  };
  const sources = side(source, target, true);
  const targets = side(target, source, false);
  const thread = s("path", { class: "thread", hidden: true });
  picture.append(s("g", {}, ...ribbons.map(({ path }) => path)), thread,
    s("g", {}, ...sources.map(({ group }) => group)), s("g", {}, ...targets.map(({ group }) => group)));
  if (actions.drag) addDrag(picture, targets, thread, x1, (k) => y(k, target.length), actions.drag);
  const show = (i, j) => {
    const any = i !== null || j !== null;
    ribbons.forEach(({ path, ...link }) => {
      const on = (i !== null || j !== null) && (i === null || link.i === i) && (j === null || link.j === j);
      path.classList.toggle("on", on);
      path.classList.toggle("off", any && !on);
    });
    const put = (words, weightOf, chosen) => words.forEach(({ group, value }, k) => {
      const weight = weightOf(k);
      group.classList.toggle("on", k === chosen || (weight ?? 0) >= FAINTEST);
      group.classList.toggle("off", any && k !== chosen && (weight ?? 0) < FAINTEST);
      group.classList.toggle("chosen", k === chosen);
      value.textContent = weight === null || weight < FAINTEST ? "" : written(weight, 2);
    });
    put(sources, (k) => (i === null ? null : j === null || j === k ? alpha[i][k] : null), j);
    put(targets, (k) => (j === null || i !== null ? null : alpha[k][j]), i);
  };
  return { picture, show };
}

function addDrag(picture, targets, thread, x1, yOf, drag) {
  const point = (event) => {
    const box = picture.getBoundingClientRect();
    const scale = picture.viewBox.baseVal.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  };
  targets.forEach(({ group }, k) => {
    group.classList.add("drags");
    group.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const move = (next) => {
        const [x, y] = point(next);
        thread.removeAttribute("hidden");
        thread.setAttribute("d", `M${x1} ${yOf(k)}L${x} ${y}`);
      };
      const up = (last) => {
        document.removeEventListener("pointermove", move);
        document.removeEventListener("pointerup", up);
        document.removeEventListener("pointercancel", up);
        thread.setAttribute("hidden", "");
        const over = document.elementFromPoint(last.clientX, last.clientY)?.closest?.("[data-side=source]");
        if (last.type === "pointerup" && over && picture.contains(over)) drag(k, Number(over.dataset.k));
      };
      event.preventDefault();
      document.addEventListener("pointermove", move);
      document.addEventListener("pointerup", up);
      document.addEventListener("pointercancel", up);
    });
  });
}

/**
 * Both pictures of an attention, and the line that says what is lit.
 *
 * `data` is {source, target, alpha}; `links` are pairs (source, target) to ring; `actions.pick(side, k)` is called for a
 * word that is clicked, `actions.drag(target, source)` for attention that is dragged; `only` names one of the pictures.
 */
export function attentionFigures(data, { links = [], actions = {}, only = null, name = "" } = {}) {
  const readout = h("p", { class: "readout", role: "status" }, "\u00a0");
  const parts = [];
  const light = (i, j) => {
    parts.forEach((part) => part.show(i, j));
    if (i !== null && j !== null) readout.textContent = `${data.target[i]} \u2190 ${data.source[j]}  ${written(data.alpha[i][j], 3)}`;
    else if (i !== null) readout.textContent = `${data.target[i]} \u2190 ${strongest(data.source, data.alpha[i])}`;
    else if (j !== null) readout.textContent = `${data.source[j]} \u2192 ${strongest(data.target, data.alpha.map((row) => row[j])) || "nothing"}`;
    else readout.textContent = "\u00a0";
  };
  const figures = [];
  if (only !== "links") {
    parts.push(heatMap(data, links, light));
    figures.push(figure(name ? `${name}heat map` : "Heat map", h("div", { class: "scroll" }, parts.at(-1).picture)));
  }
  if (only !== "heatmap") {
    parts.push(linkMap(data, light, actions, only));
    figures.push(figure(name ? `${name}links` : "Links", h("div", { class: "scroll" }, parts.at(-1).picture)));
  }
  const whole = h("div", { class: "attention", onpointerleave: () => light(null, null) }, h("div", { class: data.source.length > 28 ? "pair longest" : data.source.length > 16 ? "pair long" : "pair" }, ...figures), readout);
  whole.addEventListener("focusout", (event) => { if (!whole.contains(event.relatedTarget)) light(null, null); });
  return whole;
}

/** A sentence as words shaded by their weights. */
export function shadedWords(words, weights, label) {
  const greatest = Math.max(...weights, 1e-9);
  return h("p", { class: "shaded", dir: "auto", "aria-label": label }, ...words.flatMap((word, k) => [
    h("span", { css: { "--share": `${Math.round((70 * weights[k]) / greatest)}%` }, title: written(weights[k]) }, word), " ",
  ]));
}

/** Named probabilities as bars, the greatest first; `onpick` makes each a button. */
export function bars(pairs, { chosen = null, onpick = null, disabled = () => false } = {}) {
  return h("ul", { class: "bars" }, ...pairs.map(([name, share, text]) => {
    const inside = [
      h("span", { class: "name", dir: "auto" }, name),
      h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: "bar", css: { "--share": `${(100 * Math.max(0, Math.min(1, share))).toFixed(1)}%` } })),
      h("span", { class: "value" }, text),
    ];
    const attributes = { class: name === chosen ? "chosen" : null };
    if (!onpick) return h("li", attributes, ...inside);
    return h("li", attributes, h("button", { type: "button", disabled: disabled(name), "aria-pressed": String(name === chosen), onclick: () => onpick(name) }, ...inside));
  }));
}
