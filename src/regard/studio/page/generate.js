// A language model: sentences sampled word by word, and branches that go on from any of them.

import { bars } from "./attention.js";
import { canAsk, isOffline, stream } from "./api.js";
import { h, percent, written } from "./dom.js";

/** The body of a request for one sampled line. */
export function sampleBody(model, prompt, { temperature, topP, seed }) {
  return { model, prompt, count: 1, seed, max_length: 60, alternatives: 7, options: { temperature, top_p: topP } };
}

function slider(label, min, max, step, value, oninput) {
  const shown = h("output", {}, value.toFixed(2));
  const input = h("input", { type: "range", min, max, step, value, oninput: () => { shown.textContent = Number(input.value).toFixed(2); oninput(Number(input.value)); } });
  return h("label", { class: "field slider" }, h("span", {}, label), input, shown);
}

/** What a line's words are, in order: its prompt, then one for each step. */
function joined(prompt, steps) {
  return [prompt, ...steps.map(({ token }) => token)].filter((token) => token && !/^<.*>$/.test(token));
}

/** The text of a line up to a step, from the texts that were streamed or, without them, from its tokens. */
function upTo(line, k) {
  return k === 0 ? line.prompt : line.texts?.[k - 1] ?? joined(line.prompt, line.steps.slice(0, k)).join(" ");
}

/** The view: lines that were sampled, newest first. `settings` keeps them and the options between visits. */
export function generateView(context, settings) {
  const { model } = context;
  Object.assign(settings, { temperature: 1, topP: 1, seed: 1, lines: [], ...settings });
  const list = h("ol", { class: "lines", "aria-live": "polite", "aria-label": "Sampled lines, newest first" });
  const panel = h("div", { class: "menu", "aria-live": "polite" });
  let running = null;
  const show = () => {
    list.replaceChildren(...settings.lines.map((line) => h("li", {},
      h("p", { class: "sentence", dir: "auto" },
        line.prompt ? h("span", { class: "prompt" }, `${line.prompt} `) : null,
        ...line.steps.flatMap((step, k) => [h("button", {
          type: "button", class: "token", "aria-pressed": String(settings.picked?.[0] === line && settings.picked?.[1] === k),
          css: { "--share": `${Math.round(70 * (1 - Math.sqrt(step.model_probability)))}%` },
          title: percent(step.model_probability), onclick: () => pick(line, k),
        }, step.token), " "]),
        line.done ? null : h("span", { class: "caret", "aria-hidden": "true" })),
      line.done && line.log_prob !== undefined ? h("p", { class: "facts" }, `log p ${written(line.log_prob, 2)}${line.from ? `, ${line.from}` : ""}`) : null)));
  };
  const pick = (line, k) => {
    settings.picked = settings.picked?.[0] === line && settings.picked?.[1] === k ? null : [line, k];
    show();
    if (!settings.picked) { panel.replaceChildren(); return; }
    const step = line.steps[k];
    const candidates = [{ ...step }, ...step.alternatives].sort((a, b) => b.model_probability - a.model_probability);
    const before = upTo(line, k);
    const promptWith = (token) => (line.texts ? branch(before, token) : [before, token].filter(Boolean).join(" "));
    panel.replaceChildren(h("h2", {}, "Instead of ", h("b", { dir: "auto" }, step.token)),
      bars(candidates.map(({ token, model_probability: p }) => [token, p, percent(p)]), {
        chosen: step.token, onpick: (token) => sample(promptWith(token), `branched at \u201c${step.token}\u201d`),
        disabled: (token) => /^<.*>$/.test(token) || !canAsk("sample", sampleBody(model, promptWith(token), settings)) }),
      h("p", { class: "soft" }, "Probabilities of the model, before temperature and top-p; a choice goes on from there."));
    panel.querySelector("button:not(:disabled)")?.focus({ preventScroll: true });
  };
  const branch = (before, token) => (token.startsWith("\u2581") || /\w$/u.test(before) ? `${before} ${token.replace(/^\u2581/u, "")}` : `${before}${token}`).trim();
  const sample = async (prompt, from = null) => {
    running?.abort();
    running = new AbortController();
    settings.picked = null;
    panel.replaceChildren();
    const line = { prompt, steps: [], texts: [], done: false, from };
    settings.lines.unshift(line);
    settings.lines.splice(12);
    show();
    try {
      const result = await stream("sample", sampleBody(model, prompt, settings), ({ step, text }) => { line.steps.push(step); line.texts.push(text); show(); }, running.signal);
      Object.assign(line, { steps: result.steps, log_prob: result.log_prob, done: true, texts: line.texts.length ? line.texts : null });
    } catch (error) {
      settings.lines.splice(settings.lines.indexOf(line), 1);
      if (error.name !== "AbortError") panel.replaceChildren(h("p", { class: "error", role: "alert" }, error.message));
    }
    show();
  };
  const controls = h("div", { class: "controls" },
    h("button", { type: "button", class: "play", onclick: () => { settings.seed = settings.lines.length ? settings.seed + 1 : settings.seed; sample(context.text); } }, "Sample"),
    slider("Temperature", 0.1, 2, 0.05, settings.temperature, (value) => { settings.temperature = value; }),
    slider("Top-p", 0.05, 1, 0.05, settings.topP, (value) => { settings.topP = value; }));
  show();
  if (!settings.lines.length || settings.text !== context.text) { settings.text = context.text; queueMicrotask(() => sample(context.text)); }
  return h("div", { class: "generate" }, isOffline() ? null : controls, list, panel);
}
