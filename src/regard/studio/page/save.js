// What is seen, as a file: pictures as SVG or PNG, answers as JSON, the whole page as one HTML file.

import { recordings } from "./api.js";

const KEPT = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "dominant-baseline"];

function download(content, name, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** A picture that needs no stylesheet: what is computed for each element becomes its attributes. */
function standalone(picture) {
  const copy = picture.cloneNode(true);
  const originals = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, k) => {
    const style = getComputedStyle(originals[k]);
    if (style.display === "none") { element.setAttribute("visibility", "hidden"); return; }
    for (const name of KEPT) {
      const value = style.getPropertyValue(name);
      if (value) element.setAttribute(name, value);
    }
    for (const name of ["class", "tabindex", "role"]) element.removeAttribute(name);
  });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

/** Save a picture as it is drawn now. */
export function saveSvg(picture, name) {
  download(standalone(picture), `${name}.svg`, "image/svg+xml");
}

/** Save a picture as pixels, two for each of the screen. */
export async function savePng(picture, name) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(standalone(picture))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * picture.viewBox.baseVal.width;
  canvas.height = 2 * picture.viewBox.baseVal.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  download(blob, `${name}.png`);
}

/** Save a value as JSON. */
export function saveJson(value, name) {
  download(`${JSON.stringify(value, null, 2)}\n`, `${name}.json`, "application/json");
}

/** Save the page with all that was answered about a text; it needs no server. */
export async function saveHtml(state, wanted, name) {
  const page = document.querySelector("script[data-page]") ? null : await (await fetch("offline.html")).text();
  const data = JSON.stringify({ state, recordings: recordings(wanted) }).replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028");
  const whole = page ?? `<!doctype html>\n${document.documentElement.outerHTML}`;
  const start = whole.indexOf(">", whole.indexOf('id="recorded"')) + 1;
  download(whole.slice(0, start) + data + whole.slice(whole.indexOf("<\/script>", start)), `${name}.html`, "text/html");
}
