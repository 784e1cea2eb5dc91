// What if: other target words, other source words, attention moved by hand; before and after side by side.

import { attentionFigures, bars } from "./attention.js";
import { ask, canAsk, isOffline } from "./api.js";
import { h, note, percent, written } from "./dom.js";
import { between, differences, hasPieces, sourceLabels } from "./words.js";

/** The body of a what-if request. */
export function interventionBody(base, { swap, attend, prefix }) {
  return { ...base, swap, attend, prefix };
}

function sentence(tokens, { marked, onpick, chosen, label, dir = "auto" }) {
  return h("p", { class: "sentence", dir, role: "group", "aria-label": label }, ...tokens.flatMap((token, k) => [
    h("button", {
      type: "button", class: `token${marked?.[k] ? " marked" : ""}`, disabled: !onpick, "aria-pressed": onpick ? String(k === chosen) : null,
      onclick: () => onpick?.(k),
    }, token), " ",
  ]));
}

/**
 * The view. `context` has the model's name, the text, the search options, the search tree and the translation;
 * `settings` keeps the interventions between visits.
 */
export function whatIfView(context, settings) {
  const { translation, tree, base } = context;
  if (hasPieces(translation) && translation.link_units.includes("characters"))
    return note("A what-if works on words, and this model reads or writes characters; use regard what-if on the command line.");
  if (settings.text !== base.text) Object.assign(settings, { text: base.text, swap: {}, attend: {}, prefix: "", picked: null });
  const chips = h("div", { class: "chips", role: "group", "aria-label": "Interventions" });
  const menu = h("div", { class: "menu", "aria-live": "polite" });
  const results = h("div", { class: "results", "aria-live": "polite" });
  const sourceWords = base.text.split(/\s+/u).filter(Boolean);
  const targetWords = translation.text.split(/\s+/u).filter(Boolean);
  const attends = Boolean(translation.alpha);
  let running = null;

  const empty = () => !settings.prefix && !Object.keys(settings.swap).length && !Object.keys(settings.attend).length;

  const change = (changes) => {
    Object.assign(settings, changes);
    settings.picked = null;
    show();
  };
  const show = () => {
    const words = { ...settings };
    chips.replaceChildren(
      ...Object.entries(words.swap).map(([k, word]) => chip(`${sourceWords[k]} \u2192 ${word || "\u2205"}`, () => { const { [k]: _, ...rest } = settings.swap; change({ swap: rest }); })),
      ...(words.prefix ? [chip(`begins \u201c${words.prefix}\u201d`, () => change({ prefix: "" }))] : []),
      ...Object.entries(words.attend).map(([i, j]) => chip(`step ${Number(i) + 1} attends to ${sourceLabels(translation)[j]}`, () => { const { [i]: _, ...rest } = settings.attend; change({ attend: rest }); })));
    showMenu();
    compute();
  };
  const chip = (text, remove) => h("button", { type: "button", class: "chip removable", "aria-label": `Remove: ${text}`, onclick: remove }, text, h("span", { "aria-hidden": "true" }, " \u00d7"));

  const tokenOf = (word) => translation.target_words.indexOf(word);
  const nodeAt = (step) => {
    let nodes = [];
    const byId = new Map(tree.steps.flat().map((node) => [node.id, node]));
    let node = tree.steps.flat().filter((each) => each.fate === "finished").sort((a, b) => b.score - a.score)[0];
    while (node) { nodes.unshift(node); node = byId.get(node.parent); }
    return nodes[step];
  };
  const prefixUpTo = (k) => targetWords.slice(0, k).join(" ");

  const showMenu = () => {
    if (!settings.picked) {
      menu.replaceChildren(h("p", { class: "soft" }, isOffline()
        ? "Choose a word of either sentence to see what was recorded for it."
        : `Choose a word of either sentence to change it${attends ? ", or drag a target word onto a source word to move its attention" : ""}.`));
      return;
    }
    const [side, k] = settings.picked;
    if (side === "target") menuForTarget(k);
    else menuForSource(k);
  };
  const own = (label, use) => {
    if (isOffline()) return null;
    const input = h("input", { type: "text", placeholder: "another word", "aria-label": label, autocomplete: "off", spellcheck: "false" });
    return h("form", { class: "own", onsubmit: (event) => { event.preventDefault(); use(input.value.trim()); } }, input, h("button", { type: "submit" }, "Use"));
  };
  const menuForTarget = (k) => {
    const node = nodeAt(tokenOf(k));
    const use = (word) => change({ prefix: [prefixUpTo(k), word].filter(Boolean).join(" ") });
    const offered = (node?.alternatives ?? []).filter(({ token }) => !/^<.*>$/.test(token)).slice(0, 6);
    const step = tokenOf(k);
    const select = attends && !isOffline() ? h("select", { "aria-label": `Attention of step ${step + 1}`, onchange: () => { if (select.value !== "") change({ attend: { ...settings.attend, [step]: Number(select.value) } }); } },
      h("option", { value: "" }, "as the model decides"), ...sourceLabels(translation).map((token, j) => h("option", { value: j }, token))) : null;
    menu.replaceChildren(h("h2", {}, "Instead of ", h("b", { dir: "auto" }, targetWords[k])),
      bars(offered.map(({ token, log_prob: logProb }) => [token.replace(/^\u2581/u, ""), Math.exp(logProb), percent(Math.exp(logProb))]), {
        chosen: targetWords[k], onpick: use, disabled: (word) => !canAsk("what-if", interventionBody(base, { swap: {}, attend: {}, prefix: [prefixUpTo(k), word].filter(Boolean).join(" ") })) }),
      own("Another target word", use),
      select ? h("p", { class: "row" }, h("span", { class: "soft" }, "All attention on "), select) : null);
    menu.querySelector("button:not(:disabled), select")?.focus({ preventScroll: true });
  };
  const menuForSource = async (k) => {
    const use = (word) => change({ swap: { ...settings.swap, [k]: word } });
    const rest = [own("Another source word", use)];
    menu.replaceChildren(h("h2", {}, "Instead of ", h("b", { dir: "auto" }, sourceWords[k])), ...rest.filter(Boolean));
    try {
      const { words } = await ask("nearest", { model: base.model, word: sourceWords[k], count: 6 });
      if (settings.picked?.[1] !== k) return;
      menu.replaceChildren(h("h2", {}, "Instead of ", h("b", { dir: "auto" }, sourceWords[k])),
        words.length ? bars(words.map(([word, cosine]) => [word, Math.max(cosine, 0), written(cosine, 2)]), {
          onpick: use, disabled: (word) => !canAsk("what-if", interventionBody(base, { swap: { [k]: word }, attend: {}, prefix: "" })) })
          : note("No embeddings to compare: the vocabulary has no token for this whole word."),
        ...rest.filter(Boolean), words.length ? h("p", { class: "soft" }, "Nearest embeddings, by cosine.") : null);
      menu.querySelector("button:not(:disabled)")?.focus({ preventScroll: true });
    } catch (error) {
      menu.append(note(error.message));
    }
  };
  const pick = (side, k) => {
    settings.picked = settings.picked?.[0] === side && settings.picked?.[1] === k ? null : [side, k];
    document.querySelectorAll(`.whatif [data-sentence]`).forEach((group) => group.querySelectorAll(".token").forEach((button, index) =>
      button.setAttribute("aria-pressed", String(group.dataset.sentence === settings.picked?.[0] && index === settings.picked?.[1]))));
    showMenu();
  };
  const drag = (i, j) => change({ attend: { ...settings.attend, [i]: j } });
  const sideOf = (title, one, flags, sourceFlags, actions) => {
    const data = one.alpha && { ...between(one, one.alpha, false), source: sourceLabels(one) };
    return h("section", { class: "side" }, h("h2", {}, title),
      h("p", { class: "plain soft", dir: "auto" }, ...one.source.split(/\s+/u).flatMap((word, k) => [sourceFlags[k] ? h("mark", {}, word) : word, " "])),
      h("p", { class: "plain", dir: "auto" }, ...one.text.split(/\s+/u).flatMap((word, k) => [flags[k] ? h("mark", {}, word) : word, " "])),
      h("p", { class: "facts" }, `log p ${written(one.log_prob, 2)}, score ${written(one.score, 2)}`),
      data ? attentionFigures(data, { only: "links", actions, name: `${title} ` }) : null);
  };
  const compute = async () => {
    running?.abort();
    running = new AbortController();
    const actions = isOffline() ? {} : { drag };
    if (empty()) {
      results.replaceChildren(sideOf("Before", translation, [], [], actions));
      return;
    }
    try {
      const result = await ask("what-if", interventionBody(base, settings), running.signal);
      const split = (text) => text.split(/\s+/u).filter(Boolean);
      const [before, after] = differences(split(result.before.text), split(result.after.text));
      const [old, fresh] = differences(split(result.before.source), split(result.after.source));
      results.replaceChildren(
        sideOf("Before", result.before, before, old, actions), sideOf("After", result.after, after, fresh, {}),
        result.changed ? h("p", { class: "readout wide" }, `The translations part at word ${result.divergence + 1}.`)
          : h("p", { class: "readout wide" }, "The translation stays the same."));
    } catch (error) {
      if (error.name !== "AbortError") results.replaceChildren(sideOf("Before", translation, [], [], actions), h("p", { class: "error", role: "alert" }, error.message));
    }
  };
  const group = (side, words) => {
    const element = sentence(words, { onpick: (k) => pick(side, k), label: side === "source" ? "Source words" : "Target words" });
    element.dataset.sentence = side;
    return element;
  };
  show();
  return h("div", { class: "whatif" }, h("div", { class: "ask" }, group("source", sourceWords), group("target", targetWords)), chips, menu, results);
}
