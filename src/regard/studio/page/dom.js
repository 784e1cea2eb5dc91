// Elements of HTML and SVG from plain values. Text is always text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "css") for (const [key, each] of Object.entries(value)) element.style.setProperty(key, each);
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** An HTML element: attributes by name, listeners as `onclick`, custom properties in `css`. */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element, as `h`. */
export function s(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** A number as it is written: a real minus sign, three decimals unless told. */
export function written(value, decimals = 3) {
  if (value === null || value === undefined) return "–";
  return value.toFixed(decimals).replace("-", "\u2212").replace(/^\u2212(0\.?0*)$/, "$1");
}

/** A probability from its logarithm, as it is written. */
export function percent(probability) {
  if (probability >= 0.9995) return "100 %";
  if (probability < 0.0005) return "< 0.1 %";
  return `${(100 * probability).toFixed(probability >= 0.0995 ? 0 : 1)} %`;
}

let ruler;
/** The width of a text in pixels, in the font of the figures. */
export function textWidth(text, size = 14, weight = 400) {
  ruler ??= document.createElement("canvas").getContext("2d");
  ruler.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return ruler.measureText(text).width;
}

/** A group of buttons of which one is chosen, worked with arrow keys as radio buttons are. */
export function choice(label, options, chosen, onchange) {
  const group = h("div", { class: "choice", role: "radiogroup", "aria-label": label });
  const buttons = options.map(([value, text]) =>
    h("button", {
      type: "button", role: "radio", "aria-checked": String(value === chosen), tabindex: value === chosen ? 0 : -1,
      onclick: () => select(value, true), "data-value": value,
    }, text));
  const select = (value, focus) => {
    options.forEach(([each], index) => {
      buttons[index].setAttribute("aria-checked", String(each === value));
      buttons[index].tabIndex = each === value ? 0 : -1;
      if (focus && each === value) buttons[index].focus();
    });
    onchange(value);
  };
  group.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const at = buttons.indexOf(document.activeElement);
    select(options[(at + move + options.length) % options.length][0], true);
  });
  group.append(...buttons);
  return group;
}

/** A figure with a name, under which it can be saved. */
export function figure(name, ...children) {
  return h("figure", { "data-name": name }, h("figcaption", {}, name), ...children);
}

/** A note in place of a view that has nothing to show. */
export function note(text) {
  return h("p", { class: "note" }, text);
}

/** Make a field as high as its text. */
export function fitHeight(field) {
  field.style.setProperty("height", "auto");
  field.style.setProperty("height", `${field.scrollHeight + 2}px`);
}
