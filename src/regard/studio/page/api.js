// The service's routes. Every answer is kept, so that a page saved to a file can give them again without a server.

const answers = new Map();
let offline = false;

function canonical(value) {
  if (Array.isArray(value)) return value.map(canonical);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, canonical(value[key])]));
}

function keyOf(operation, body) {
  return JSON.stringify([operation, canonical(body)]);
}

/** Answer from recordings from now on: a list of [operation, body, answer]. */
export function replay(recordings) {
  offline = true;
  for (const [operation, body, answer] of recordings) answers.set(keyOf(operation, body), answer);
}

/** Whether there is no server. */
export function isOffline() {
  return offline;
}

/** Whether an answer can be had: always with a server. */
export function canAsk(operation, body) {
  return !offline || answers.has(keyOf(operation, body));
}

/** All that was answered about a text, for a file. */
export function recordings(wanted) {
  return [...answers].map(([key, answer]) => [...JSON.parse(key), answer]).filter(([operation, body]) => wanted(operation, body));
}

function keep(operation, body, answer) {
  answers.set(keyOf(operation, body), answer);
  while (answers.size > 400) answers.delete(answers.keys().next().value);
  return answer;
}

async function explain(response) {
  let message = `the service answered with status ${response.status}`;
  try {
    message = (await response.json()).error.message;
  } catch { /* not an answer of ours */ }
  return new Error(message);
}

/** The models, and the limits of a request. */
export async function askModels() {
  const body = {};
  const known = answers.get(keyOf("models", body));
  if (known) return known;
  const response = await fetch("v1/models");
  if (!response.ok) throw await explain(response);
  return keep("models", body, await response.json());
}

/** The rows of a model's training log, as its folder has them now. */
export async function askLog(name) {
  const response = await fetch(`v1/models/${encodeURIComponent(name)}/log`);
  if (!response.ok) throw await explain(response);
  return (await response.json()).rows;
}

/** Let the service load a model again, as its folder has it now. */
export async function renew(name) {
  await post(`models/${encodeURIComponent(name)}/renew`, {});
}

/** The results of the lab, as its folder has them now. */
export async function askLab() {
  const response = await fetch("v1/lab");
  if (!response.ok) throw await explain(response);
  return (await response.json()).results;
}

async function post(operation, body, signal) {
  const response = await fetch(`v1/${operation}`, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal,
  });
  if (!response.ok) throw await explain(response);
  return response;
}

/** The one result of a route for one text; of an equal request, the one that was answered before, unless `again`. */
export async function ask(operation, body, signal, again = false) {
  const known = answers.get(keyOf(operation, body));
  if (known && !again) return known;
  if (offline) throw new Error("this page was saved without an answer to that; open it in the studio to go on");
  const { model, version, ...rest } = await (await post(operation, body, signal)).json();
  return keep(operation, body, Object.values(rest)[0][0]);
}

/**
 * Search a run's sentences: the service reads on at each request, and `onpart` gets what it has found so far, until it
 * has read them all. Without a server, what was found when the page was saved; null where nothing was.
 */
export async function searchCorpus(operation, body, onpart, signal) {
  for (;;) {
    let answer = answers.get(keyOf(operation, body));
    if (!offline && !(answer && answer.read >= answer.total)) {
      const { model, version, ...rest } = await (await post(operation, body, signal)).json();
      answer = keep(operation, body, Object.values(rest)[0][0]);
    }
    if (signal.aborted) return;
    onpart(answer ?? null);
    if (offline || answer.read >= answer.total) return;
  }
}

/** The one result of a route, with partial results as they are computed. */
export async function stream(operation, body, onpartial, signal) {
  const known = answers.get(keyOf(operation, body));
  if (known) return known;
  if (offline) return ask(operation, body, signal);
  const response = await post(operation, { ...body, stream: true }, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let result = null;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const name = /^event: (.*)$/m.exec(event)?.[1];
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (!name) continue;
      const { index, ...values } = JSON.parse(data);
      if (name === "partial") onpartial(values);
      else if (name === "result") result = values;
      else if (name === "error") throw new Error(values.error.message);
    }
  }
  if (result === null) throw new Error("the service ended its answer early; try again");
  return keep(operation, body, result);
}
