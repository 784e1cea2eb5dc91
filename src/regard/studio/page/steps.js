// A trace step by step: a picture of all states, the step that is being computed, and its equations with their numbers.

import { choice, figure, h, s, textWidth, written } from "./dom.js";

const FEW = 8; // units of a layer in a row of numbers
const STRIP = 6; // units of a state in the picture

/** An equation, set from its runs of [text, level, italic]. */
export function equation(runs) {
  return h("span", { class: "equation" }, ...runs.map(([text, level, italic]) => {
    const piece = italic ? h("i", {}, text) : text;
    return level ? h(level < 0 ? "sub" : "sup", {}, piece) : piece;
  }));
}

/** Numbers as cells: blue where positive, orange where negative, the deeper the greater in their row. */
export function numberCells(values, labels = [], total = values.length) {
  const greatest = Math.max(...values.map((value) => Math.abs(value ?? 0)), 1e-9);
  const cells = values.map((value, k) => h("span", {
    class: (value ?? 0) >= 0 ? "positive" : "negative", css: { "--share": `${Math.round((70 * Math.abs(value ?? 0)) / greatest)}%` },
  }, labels.length ? h("small", { dir: "auto" }, labels[k]) : null, written(value)));
  if (values.length < total) cells.push(h("span", { class: "more" }, `\u2026 ${total}`));
  return h("span", { class: "cells" }, ...cells);
}

function shownState(section) {
  const units = section.parts.filter((part) => part.axis === "units");
  return units.findLast((part) => /state|annotation|cell/.test(part.name)) ?? units.at(-1);
}

/** The mean over heads, where there are several rows. */
export function meanRow(values) {
  if (!Array.isArray(values?.[0])) return values;
  return values[0].map((_, k) => values.reduce((sum, row) => sum + row[k], 0) / values.length);
}

/** The attention of a step: over the source, or over the past of its own section. */
function attended(section, step) {
  const alphas = section.parts.filter(({ name }) => name === "alpha");
  const part = alphas.find(({ axis }) => axis === "source") ?? alphas.find(({ axis }) => axis === "past");
  return part && step.values[part.key] ? { axis: part.axis, weights: meanRow(step.values[part.key]) } : null;
}

function lanes(trace) {
  return trace.sections.filter((section) => section.steps.length > 1 || trace.sections.length === 1 || section.key.startsWith("decoder") || attended(section, section.steps[0])?.axis === "source")
    .filter(shownState);
}

/** The picture of a moment; `sequence` is all steps in order, `now` the index of the current one. */
function draw(trace, sequence, now) {
  const rows = lanes(trace);
  const words = [...trace.tokens, ...trace.output_tokens];
  const columns = Math.max(...rows.map((section) => section.steps.length));
  const title = Math.ceil(Math.max(...rows.map((section) => textWidth(section.title, 12)))) + 22;
  const roomy = (Math.min(innerWidth, 1344) - 2 * Math.min(48, innerWidth * 0.04) - title - 20) / columns;
  const column = Math.max(58, Math.min(120, Math.max(Math.max(...words.map((word) => textWidth(word, 14))) + 16, Math.min(roomy, 96))));
  const lane = 50;
  const gap = 76;
  const attends = rows.map((section) => section.steps.some((step) => attended(section, step)));
  const place = [];
  let y = 26;
  rows.forEach((section, k) => { if (attends[k]) y += gap; place.push(y); y += lane; });
  const width = title + column * columns + 8;
  const height = y + (rows.some((section) => section.steps.some((step) => step.output)) ? 20 : -12);
  const x = (k) => title + column * (k + 0.5);
  const at = (section, step) => x(section.steps.length > 1 || section.key.startsWith("decoder") ? step.position : (columns - 1) / 2);
  const { section: current, step: active } = sequence[now];
  const picture = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "unrolled",
    "aria-label": `${current.title}, ${active.token || "start"}${active.output ? `, output ${active.output}` : ""}` });
  rows[0].steps.length && [...rows[0].steps].sort((a, b) => a.position - b.position).forEach((step) =>
    picture.append(s("text", { class: "word", x: x(step.position), y: 14, "text-anchor": "middle" }, step.token)));
  rows.forEach((section, k) => {
    const part = shownState(section);
    picture.append(s("text", { class: "lane", x: 0, y: place[k] + 16 }, section.title));
    section.steps.forEach((step, index) => {
      const order = sequence.findIndex((each) => each.section === section && each.step === step);
      const done = order <= now;
      const isNow = order === now;
      const values = meanRow(step.values[part.key] ?? []);
      const size = Math.min(11, (column - 12) / STRIP);
      const start = at(section, step) - (size * STRIP) / 2;
      const attention = attended(section, step);
      const numbers = [];
      if (isNow && attention) {
        const from = attention.axis === "source" ? k - 1 : k;
        attention.weights.forEach((weight, j) => {
          if ((weight ?? 0) < 0.01) return;
          const [a, b] = attention.axis === "source" ? [x(j), place[Math.max(from, 0)] + 26] : [x(j), place[k] - 2];
          const d = attention.axis === "source"
            ? `M${a} ${b}C${a} ${(b + place[k]) / 2} ${at(section, step)} ${(b + place[k]) / 2} ${at(section, step)} ${place[k] - 2}`
            : `M${a} ${b}C${a} ${b - 40} ${x(step.position)} ${b - 40} ${x(step.position)} ${b}`;
          picture.append(s("path", { class: "ribbon on", d, "stroke-width": 0.8 + 11 * weight, "stroke-opacity": 0.15 + 0.6 * weight }));
          if (attention.axis === "source" && weight >= 0.05)
            numbers.push(s("text", { class: "weight halo", x: a, y: b + 16, "text-anchor": "middle" }, written(weight, 2)));
        });
        picture.append(...numbers);
      }
      const greatest = Math.max(...values.slice(0, STRIP).map((value) => Math.abs(value ?? 0)), 1e-9);
      const strip = s("g", { class: isNow ? "strip now" : done ? "strip" : "strip later" },
        ...Array.from({ length: STRIP }, (_, unit) => s("rect", {
          class: !done ? "empty" : (values[unit] ?? 0) >= 0 ? "positive" : "negative",
          x: start + unit * size, y: place[k], width: size - 1, height: 24,
          "fill-opacity": done ? (0.12 + (0.78 * Math.abs(values[unit] ?? 0)) / greatest).toFixed(3) : null,
        })));
      if (isNow) strip.append(s("rect", { class: "frame", x: start - 3, y: place[k] - 3, width: size * STRIP + 5, height: 30, rx: 4 }));
      picture.append(strip);
      if (step.output && done)
        picture.append(s("text", { class: isNow ? "word on" : "word", x: x(index), y: place[k] + 44, "text-anchor": "middle" }, step.output));
    });
  });
  return { picture, x: at(current, active) };
}

function details(trace, section, step, all) {
  const rows = section.parts.map((part) => {
    if (!(part.key in step.values) && part.axis !== "words") return null;
    if (part.axis === "words" && (part.name !== "probabilities" || !step.candidates.length)) return null;
    let numbers;
    if (part.axis === "words") {
      const top = step.candidates.slice(0, FEW);
      numbers = [numberCells(top.map(({ probability }) => probability), top.map(({ token }) => token))];
    } else {
      const value = step.values[part.key];
      const labels = { source: section.source, past: step.past }[part.axis] ?? [];
      const matrix = Array.isArray(value[0]) ? value : [value];
      numbers = labels.length || part.axis === "units" || part.axis === "number"
        ? matrix.map((row) => numberCells(labels.length || all ? row : row.slice(0, FEW), labels, row.length)) : ["nothing yet"];
    }
    return h("div", { class: "part" }, h("dt", {}, h("span", { class: "name" }, part.name.replaceAll("_", " ")), equation(part.runs)), h("dd", {}, ...numbers));
  });
  return h("dl", { class: "worked" }, ...rows);
}

/** The view; `settings` keeps the moment and the letters between visits, `onletters` asks for other letters. */
export function stepsView(trace, settings, onletters) {
  const sequence = trace.sections.flatMap((section) => section.steps.map((step) => ({ section, step })));
  const clamp = (moment) => Math.max(0, Math.min(sequence.length - 1, moment));
  const first = sequence.findIndex(({ section }) => section.key.startsWith("decoder"));
  settings.moment = clamp(settings.moment ?? Math.max(first, 0));
  const stage = h("div", { class: "scroll stage" });
  const heading = h("h2", {});
  const panel = h("div", {});
  const slider = h("input", { type: "range", min: 0, max: sequence.length - 1, step: 1, "aria-label": "Step", oninput: () => { pause(); show(Number(slider.value)); } });
  const play = h("button", { type: "button", class: "play", onclick: () => (timer ? pause() : start()) }, "Play");
  let timer = null;
  const pause = () => { clearInterval(timer); timer = null; play.textContent = "Play"; play.setAttribute("aria-pressed", "false"); };
  const start = () => {
    if (settings.moment === sequence.length - 1) show(0);
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => {
      if (!stage.isConnected || settings.moment === sequence.length - 1) pause();
      else show(settings.moment + 1);
    }, 900);
  };
  const chips = trace.sections.map((section) => h("button", {
    type: "button", class: "chip", onclick: () => { pause(); show(sequence.findIndex((each) => each.section === section)); },
  }, section.title));
  const show = (moment) => {
    settings.moment = clamp(moment);
    const { section, step } = sequence[settings.moment];
    const { picture, x } = draw(trace, sequence, settings.moment);
    stage.replaceChildren(picture);
    stage.scrollLeft = x - stage.clientWidth / 2;
    const count = section.steps.indexOf(step) + 1;
    heading.replaceChildren(h("span", { class: "soft" }, section.steps.length > 1 ? `${section.title} ${count}/${section.steps.length}` : section.title), " ",
      h("span", { dir: "auto" }, step.token), ...(step.output ? [h("span", { class: "soft" }, " \u2192 "), h("span", { dir: "auto" }, step.output)] : []));
    panel.replaceChildren(details(trace, section, step, settings.all));
    slider.value = settings.moment;
    slider.setAttribute("aria-valuetext", `${section.title}, step ${count}: ${step.token}${step.output ? `, output ${step.output}` : ""}`);
    chips.forEach((chip, k) => chip.setAttribute("aria-pressed", String(trace.sections[k] === section)));
  };
  const view = h("div", { class: "steps" },
    h("div", { class: "controls" },
      h("button", { type: "button", "aria-label": "Previous step", onclick: () => { pause(); show(settings.moment - 1); } }, "\u2190"), play,
      h("button", { type: "button", "aria-label": "Next step", onclick: () => { pause(); show(settings.moment + 1); } }, "\u2192"), slider,
      onletters && choice("Letters of the equations", [["papers", "Papers"], ["slides", "Slides"]], trace.letters, onletters),
      choice("Numbers of a layer", [["few", `First ${FEW}`], ["all", "All"]], settings.all ? "all" : "few", (value) => { settings.all = value === "all"; show(settings.moment); })),
    h("div", { class: "chips", role: "group", "aria-label": "Parts of the model" }, ...chips),
    figure("Steps", stage), h("div", { "aria-live": "polite" }, heading), panel);
  requestAnimationFrame(() => show(settings.moment));
  show(settings.moment);
  return view;
}
