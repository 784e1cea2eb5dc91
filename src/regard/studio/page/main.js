// The page: a text, what the model makes of it, and the views into how. The address holds the model, the text and the view.

import { ask, askLab, askModels, canAsk, isOffline, recordings, replay, stream } from "./api.js";
import { alignView, pairView } from "./align.js";
import { attentionFigures } from "./attention.js";
import { beamView } from "./beam.js";
import { choice, fitHeight, h, note, percent, written } from "./dom.js";
import { generateView } from "./generate.js";
import { labView } from "./lab.js";
import { classificationView, taggingView } from "./labels.js";
import { saveHtml, saveJson, savePng, saveSvg } from "./save.js";
import { neighboursView } from "./neighbours.js";
import { readingView, statesView } from "./states.js";
import { meanRow, stepsView } from "./steps.js";
import { trainingView } from "./training.js";
import { whatIfView } from "./whatif.js";
import { between, hasPieces } from "./words.js";

const INSIDE = [["steps", "Step by step"], ["reading", "Reading"], ["states", "States"], ["neighbours", "Neighbours"], ["training", "Training"]];
const VIEWS = {
  translate: [["attention", "Attention"], ["steps", "Step by step"], ["beam", "Beam search"], ["whatif", "What if"], ["align", "Align"], ...INSIDE.slice(1)],
  language_model: [["sample", "Sampling"], ...INSIDE],
  classify: [["labels", "Label"], ...INSIDE],
  tag: [["labels", "Tags"], ...INSIDE],
  align: [["pair", "Alignment"], ["training", "Training"]],
};
const VERB = { translate: "Translate", language_model: "Begin with", classify: "Classify", tag: "Tag", align: "Align" };
const WAIT = 250; // milliseconds after the last key
const PATIENCE = 300; // milliseconds before a view says that it is being computed

const $ = (selector) => document.querySelector(selector);
const state = { models: [], limits: {}, model: null, text: "", view: null, beam: 5, letters: "papers", rank: 0, target: "", pieces: "words", head: "mean", member: 0, links: false, lab: false, result: null };
const settings = { steps: {}, beam: {}, whatif: {}, align: {}, states: {}, neighbours: {}, training: {}, sample: {} };
let running = null;
let drawing = 0;

const task = () => state.model.task;
const search = () => ({ beam: state.beam, n_best: state.beam });
const requests = {
  translate: () => ["translate", { model: state.model.name, texts: state.text, options: search(), alpha: true }],
  tree: () => ["tree", { model: state.model.name, text: state.text, options: search() }],
  trace: (member = state.member, rank = state.rank) => ["trace", { model: state.model.name, text: textOfTrace(), letters: state.letters, ...(task() === "translate" ? { beam: state.beam } : {}), ...(rank && ranked()[rank].text ? { target: ranked()[rank].text } : {}), ...memberOf(member) }],
  corpus: () => ({ model: state.model.name, text: state.text, ...memberOf(state.member) }),
  classify: () => ["classify", { model: state.model.name, texts: [pairOf(state.text)] }],
  tag: () => ["tag", { model: state.model.name, texts: state.text }],
  base: () => ({ model: state.model.name, text: state.text, options: search() }),
};

/** A classifier of two texts reads them with a bar between. */
function pairOf(text) {
  const parts = text.split("|").map((part) => part.trim());
  return parts.length === 2 && parts.every(Boolean) ? parts : text;
}

function memberOf(member) {
  return state.model.num_models > 1 ? { member } : {};
}

/** Look at another text. */
function open(text) {
  state.text = text;
  $("#text").value = text;
  fit();
  scrollTo({ top: 0 });
  run();
}

function textOfTrace() {
  return task() === "classify" ? pairOf(state.text) : state.text;
}

function writeAddress() {
  if (isOffline()) return;
  const query = new URLSearchParams();
  if (state.models.length > 1) query.set("model", state.model.name);
  if (state.text) query.set("q", state.text);
  if (state.view !== VIEWS[task()][0][0]) query.set("view", state.view);
  if (state.beam !== 5) query.set("beam", state.beam);
  if (state.target && ["align", "pair"].includes(state.view)) query.set("target", state.target);
  history.replaceState(null, "", query.size ? `?${query}` : location.pathname);
  document.title = state.text ? `${state.text} · Regard` : "Regard studio";
}

function readAddress() {
  const query = new URLSearchParams(location.search);
  state.model = state.models.find(({ name }) => name === query.get("model")) ?? state.models[0];
  state.text = query.get("q") ?? "";
  state.view = query.get("view");
  state.target = query.get("target") ?? "";
  if (state.target) Object.assign(settings.align, { text: state.text, target: state.target, own: true });
  const beam = Number(query.get("beam"));
  if (Number.isInteger(beam) && beam >= 1 && beam <= state.limits.beam) state.beam = beam;
}

function fail(error) {
  if (error.name === "AbortError") return;
  $("#problem").textContent = error.message;
  $("#problem").hidden = false;
  $("main").classList.remove("busy");
}

/** Everything for the text: the answer as it is decoded, then the chosen view. */
async function run() {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  $("#problem").hidden = true;
  state.rank = 0;
  settings.steps.moment = undefined;
  Object.assign(settings.beam, { grown: undefined, node: null });
  Object.assign(settings.states, { range: null, picked: null });
  settings.neighbours.step = undefined;
  writeAddress();
  if (!state.text.trim() && task() !== "language_model") {
    state.result = null;
    showAnswer();
    showView();
    return;
  }
  $("main").classList.add("busy");
  try {
    if (task() === "translate") {
      state.result = await stream(...requests.translate(), ({ text }) => showPartial(text), signal);
    } else if (task() === "align") {
      state.result = {}; // which the view asks for, with the other side
    } else if (task() !== "language_model") {
      state.result = await ask(...requests[task()](), signal);
    } else state.result = null;
    if (signal.aborted) return;
    showAnswer();
    await showView();
  } catch (error) {
    fail(error);
  } finally {
    if (!signal.aborted) $("main").classList.remove("busy");
  }
}

function showPartial(text) {
  $("#answer").classList.add("partial");
  $("#answer").textContent = text;
}

function ranked() {
  return [state.result, ...state.result.alternatives];
}

function showAnswer() {
  const answer = $("#answer");
  answer.classList.remove("partial");
  const { result } = state;
  $("#best").replaceChildren();
  answer.hidden = ["language_model", "align"].includes(task());
  $("#save").hidden = !result && task() !== "language_model";
  if (!result || task() === "align") { answer.textContent = ""; return; }
  if (task() === "translate") {
    answer.textContent = result.text;
    const all = ranked();
    $("#best").append(...(all.length < 2 ? [] : all.map((each, k) => h("li", {}, h("button", {
      type: "button", "aria-pressed": String(k === state.rank), onclick: () => { state.rank = k; showAnswer(); showView(); },
    }, h("span", { class: "text", dir: "auto" }, each.text || "\u2205"), h("span", { class: "value", title: "length-normalised log-probability" }, written(each.score, 2)))))));
  } else if (task() === "classify") answer.textContent = `${result.label}: ${percent(result.probabilities[result.label] ?? 0)}`;
  else answer.textContent = result.tags.join(" ");
}

function heads(trace) {
  const section = trace.sections.find(({ key }) => key.startsWith("decoder"));
  const parts = section?.parts.filter(({ name, axis }) => name === "alpha" && axis === "source") ?? [];
  const found = parts.flatMap((part) => {
    const values = section.steps.map((step) => step.values[part.key]);
    const label = parts.length > 1 ? `Layer ${part.layer}` : "";
    if (!Array.isArray(values[0][0])) return parts.length > 1 ? [[`${part.key}`, label, values]] : [];
    return values[0].map((_, k) => [`${part.key} ${k}`, `${label} Head ${k + 1}`.trim(), values.map((row) => row[k])]);
  });
  return found.length > 1 ? found : [];
}

/** The attention of a trace's decoder, the mean over its heads. */
function decoderAlpha(trace) {
  const section = trace.sections.find(({ key }) => key.startsWith("decoder"));
  const part = section?.parts.find(({ name, axis }) => name === "alpha" && axis === "source");
  return part ? section.steps.map((step) => meanRow(step.values[part.key])) : null;
}

/** A view of a trace; of an ensemble, with a choice of its members. */
async function traceView(view) {
  const drawn = view(await ask(...(canAsk(...requests.trace()) ? requests.trace() : requests.trace(state.member, 0))));
  if (state.model.num_models === 1) return drawn;
  const members = Array.from({ length: state.model.num_models }, (_, member) => [member, `Seed ${member + 1}`]);
  return h("div", {}, h("div", { class: "controls" }, choice("Members of the ensemble", members, state.member, (member) => { state.member = member; showView(); })), drawn);
}

async function attentionView() {
  const chosen = ranked()[state.rank];
  if (!chosen.alpha) return note("This model has no attention.");
  let alpha = chosen.alpha;
  let options = [];
  if (state.model.num_models > 1 && canAsk(...requests.trace(0))) {
    const traces = await Promise.all(Array.from({ length: state.model.num_models }, (_, member) => ask(...requests.trace(member))));
    options = traces.map((trace, member) => [`member ${member}`, `Seed ${member + 1}`, decoderAlpha(trace)]).filter(([, , rows]) => rows);
  } else if (canAsk(...requests.trace())) options = heads(await ask(...requests.trace()));
  if (options.length) {
    const head = options.find(([key]) => key === state.head);
    if (head && head[2].length === chosen.tokens.length) [, , alpha] = head;
  }
  const data = between(chosen, alpha, state.pieces === "words");
  const argmax = data.alpha.map((row, i) => [row.indexOf(Math.max(...row)), i]).filter(([, i]) => i < data.target.length - 1);
  const again = (name) => (value) => { state[name] = value; showView(); };
  const checkbox = h("input", { type: "checkbox", onchange: () => { state.links = checkbox.checked; showView(); } });
  checkbox.checked = state.links;
  return h("div", {}, h("div", { class: "controls" },
    hasPieces(chosen) && !chosen.link_units.includes("characters") ? choice("Rows and columns", [["words", "Words"], ["tokens", "Tokens"]], state.pieces, again("pieces")) : null,
    options.length ? choice(state.model.num_models > 1 ? "Members of the ensemble" : "Heads", [["mean", "Mean"], ...options.map(([key, label]) => [key, label])], state.head, again("head")) : null,
    h("label", { class: "check" }, checkbox, "Hard links")),
  attentionFigures(data, { links: state.links ? argmax : [] }));
}

const views = {
  attention: attentionView,
  steps: () => traceView((trace) => {
    const [operation, body] = requests.trace(state.member, 0);
    const both = canAsk(operation, { ...body, letters: state.letters === "papers" ? "slides" : "papers" });
    return stepsView(trace, settings.steps, both ? (letters) => { state.letters = letters; showView(); } : null);
  }),
  beam: async () => beamView(await ask(...requests.tree()), settings.beam),
  whatif: async () => whatIfView({ translation: state.result, tree: await ask(...requests.tree()), base: requests.base() }, settings.whatif),
  align: async () => alignView({ model: state.model.name, text: state.text, translation: state.result }, settings.align, (target) => { state.target = target === state.result.text ? "" : target; writeAddress(); }),
  pair: async () => pairView({ model: state.model.name, text: state.text }, settings.align, (target) => { state.target = target; writeAddress(); }),
  reading: () => traceView((trace) => readingView(trace)),
  states: () => traceView((trace) => statesView(trace, settings.states, { body: requests.corpus(), open })),
  neighbours: () => traceView((trace) => neighboursView(trace, settings.neighbours, { body: requests.corpus(), open })),
  labels: async () => (task() === "tag" ? taggingView(state.result) : classificationView(state.result)),
  lab: async () => labView(await askLab()),
  training: () => trainingView(state.models.filter((model) => model.task === task()), state.model, settings.training),
  sample: async () => generateView({ model: state.model.name, text: state.text, limits: state.limits }, settings.sample),
};

async function showView() {
  const number = ++drawing;
  const panel = $("#panel");
  const ready = state.result || task() === "language_model";
  if (!ready || (task() === "language_model" && !["sample", "training", "lab"].includes(state.view) && !state.text.trim())) {
    panel.replaceChildren(ready ? note("Type a text to look inside.") : "");
    $("#tabs").hidden = !ready;
    return;
  }
  $("#tabs").hidden = false;
  $(`#tab-${state.view}`).scrollIntoView({ block: "nearest", inline: "nearest" });
  const waiting = setTimeout(() => { if (number === drawing) panel.replaceChildren(note("Computing \u2026")); }, PATIENCE);
  panel.setAttribute("aria-busy", "true");
  const finish = (view) => {
    clearTimeout(waiting);
    if (number !== drawing) return;
    panel.replaceChildren(view);
    panel.setAttribute("aria-busy", "false");
  };
  try {
    finish(await views[state.view]());
  } catch (error) {
    finish(h("p", { class: "error", role: "alert" }, error.message));
  }
}

function showTabs() {
  const there = { training: !isOffline(), reading: state.model.attends_past };
  const names = [...VIEWS[task()].filter(([name]) => there[name] ?? true), ...(state.lab ? [["lab", "Lab"]] : [])];
  if (!names.some(([name]) => name === state.view)) [[state.view]] = names;
  const select = (name, focus) => {
    state.view = name;
    showTabs();
    if (focus) $(`#tab-${name}`).focus();
    writeAddress();
    showView();
  };
  $("#tabs").replaceChildren(...names.map(([name, label], k) => h("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(name === state.view), "aria-controls": "panel", tabindex: name === state.view ? 0 : -1,
    onclick: () => select(name), onkeydown: (event) => {
      const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (move) { event.preventDefault(); select(names[(k + move + names.length) % names.length][0], true); }
    },
  }, label)));
  $("#panel").setAttribute("aria-labelledby", `tab-${state.view}`);
}

function showModel() {
  const { model } = state;
  $("#text").setAttribute("aria-label", VERB[model.task]);
  $("#text").placeholder = { language_model: "Begin a sentence, or leave it to the model" }[model.task] ?? `Type a text to ${VERB[model.task].toLowerCase()}`;
  $("#facts").textContent = `${model.num_parameters.toLocaleString("en")} parameters${model.num_models > 1 ? `, ${model.num_models} models` : ""}${model.update ? `, update ${model.update.toLocaleString("en")}` : ""}`;
  $("#beamfield").hidden = model.task !== "translate";
  $("#model").value = model.name;
}

function saveMenu() {
  const name = (state.text || "regard").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "regard";
  const about = (operation, body) => operation === "models" || body.text === state.text || body.texts === state.text || body.sources === state.text || operation === "nearest" || operation === "sample" || JSON.stringify(body.texts ?? body.text) === JSON.stringify(pairOf(state.text)) || JSON.stringify(body.texts) === JSON.stringify([pairOf(state.text)]);
  const item = (text, action) => h("button", { type: "button", onclick: () => { $("#save").open = false; Promise.resolve(action()).catch(fail); } }, text);
  const pictures = [...document.querySelectorAll("#panel figure")].filter((each) => each.querySelector("svg")).flatMap((each) => {
    const picture = each.querySelector("svg");
    const of = each.dataset.name;
    const file = `${name}-${of.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-")}`;
    return [item(`${of}, SVG`, () => saveSvg(picture, file)), item(`${of}, PNG`, () => savePng(picture, file))];
  });
  $("#saves").replaceChildren(...pictures, item("All answers, JSON", () => saveJson(recordings(about).map(([operation, body, answer]) => ({ operation, body, answer })), name)),
    item("This page, HTML", () => saveHtml({ text: state.text, model: state.model.name, view: state.view, beam: state.beam, letters: state.letters, target: state.target }, about, name)));
}

function theme(value) {
  if (value) document.documentElement.dataset.theme = value;
  const dark = (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  $("#theme").textContent = dark ? "Light" : "Dark";
  $("#theme").setAttribute("aria-label", dark ? "Use light colours" : "Use dark colours");
  return dark;
}

function fit() {
  $("#text").classList.toggle("long", $("#text").value.length > 120);
  fitHeight($("#text"));
}

async function start() {
  const recorded = $("#recorded");
  const saved = recorded?.textContent ? JSON.parse(recorded.textContent) : null;
  if (saved) replay(saved.recordings);
  theme();
  $("#theme").addEventListener("click", () => { theme(theme() ? "light" : "dark"); });
  try {
    const known = await askModels();
    Object.assign(state, { models: known.models.filter((model) => model.task in VIEWS), limits: known.limits });
    state.lab = !saved && (await askLab()).length > 0;
    if (!state.models.length) throw new Error("no model here can be shown; name a translator, a language model, a classifier, a tagger or an aligner");
  } catch (error) {
    fail(error);
    return;
  }
  if (saved) {
    const { model, ...rest } = saved.state;
    Object.assign(state, rest, { model: state.models.find(({ name }) => name === model) });
    if (state.target) Object.assign(settings.align, { text: state.text, target: state.target, own: true });
    document.body.classList.add("offline");
    $("#text").readOnly = true;
    $("h1 a").removeAttribute("href");
    $("#beam").disabled = true;
    $("#model").disabled = true;
  } else readAddress();
  $("#model").replaceChildren(...state.models.map(({ name }) => h("option", { value: name }, name)));
  $("#text").value = state.text;
  $("#beam").value = state.beam;
  $("#beam").max = state.limits.beam;
  let timer = null;
  $("#text").addEventListener("input", () => {
    fit();
    clearTimeout(timer);
    timer = setTimeout(() => { state.text = $("#text").value.replace(/\s*\n\s*/g, " "); run(); }, WAIT);
  });
  $("#text").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    clearTimeout(timer);
    state.text = $("#text").value.replace(/\s*\n\s*/g, " ");
    run();
  });
  $("#ask").addEventListener("submit", (event) => event.preventDefault());
  $("#beam").addEventListener("change", () => {
    state.beam = Math.max(1, Math.min(state.limits.beam, Math.round(Number($("#beam").value)) || 1));
    $("#beam").value = state.beam;
    run();
  });
  $("#model").addEventListener("change", () => {
    state.model = state.models.find(({ name }) => name === $("#model").value);
    Object.assign(settings, { states: {}, neighbours: {}, training: {}, sample: {} });
    Object.assign(state, { member: 0, head: "mean" });
    showModel();
    showTabs();
    run();
  });
  $("#save").addEventListener("toggle", () => { if ($("#save").open) saveMenu(); });
  document.addEventListener("click", (event) => { if (!$("#save").contains(event.target)) $("#save").open = false; });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && $("#save").open) { $("#save").open = false; $("#save summary").focus(); }
  });
  addEventListener("popstate", () => { readAddress(); $("#text").value = state.text; showModel(); showTabs(); run(); });
  showModel();
  showTabs();
  fit();
  await run();
  document.body.dataset.ready = "true";
}

start();
