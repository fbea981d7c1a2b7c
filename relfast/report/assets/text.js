"use strict";
// Makes elements from text, never from markup: a response is shown, not run.

const $ = (id) => document.getElementById(id);

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// The end of a long id, as tables show it: ids of a data set usually begin alike.
const end_of = (text) => (text.length <= 16 ? text : `…${text.slice(-15)}`);

// Characters that are invisible or change the text direction: shown by their code points.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/;
const EACH_UNSEEN = new RegExp(UNSEEN.source, "g");

function shown(text) {
  const whole = document.createDocumentFragment();
  if (!UNSEEN.test(text)) {
    whole.append(text);
    return whole;
  }
  let before = 0;
  let seen = 0;
  for (const found of text.matchAll(EACH_UNSEEN)) {
    if (++seen > 2000) break; // more would take seconds to show, and nobody would read it
    const code = found[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
    whole.append(text.slice(before, found.index), make("span", { class: "control", title: "an invisible character" }, `U+${code}`));
    before = found.index + 1;
  }
  whole.append(text.slice(before).replace(EACH_UNSEEN, "\ufffd"));
  return whole;
}

// Drawings come from relfast itself; still, only SVG elements that cannot run anything are inserted.
const DRAWN = new Set(["svg", "g", "path", "rect", "ellipse", "circle", "line", "polyline", "text", "title"]);

function drawing(source, label) {
  const parsed = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  if (parsed.localName !== "svg") return document.createTextNode("not drawn");
  for (const element of [...parsed.querySelectorAll("*")]) {
    if (!DRAWN.has(element.localName)) element.remove();
  }
  const svg = document.importNode(parsed, true);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return svg;
}

// A script file beside the page calls this with the number and the text of its block of records.
const waiting = new Map();
function piece(number, text) {
  waiting.get(`block-${number}`)(text);
}

function fetched(id) {
  return new Promise((found, failed) => {
    waiting.set(id, found);
    const script = make("script", { src: `records/${id.replace("block-", "")}.js` });
    script.addEventListener("load", () => script.remove());
    script.addEventListener("error", () => { script.remove(); failed(new Error(`${script.getAttribute("src")} is not beside this page`)); });
    document.head.append(script);
  });
}

async function unpacked(id) {
  const text = $(id) ? $(id).textContent.trim() : await fetched(id);
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}
