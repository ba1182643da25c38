// Elements made of text: nothing here ever reads a string as HTML, so what a run is called stays what it is called.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === undefined || child === null || child === false || child === "") continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const SHOWN = 160;

/// Somebody else's text: isolated, so that right-to-left letters turn nothing around, and folded where it is long.
export function name(text) {
  const whole = String(text ?? "");
  const letters = [...whole];
  if (letters.length <= SHOWN) return h("bdi", { class: "name" }, whole);
  return h("details", { class: "name" },
    h("summary", {}, h("bdi", {}, letters.slice(0, SHOWN).join("")), `… (${letters.length} characters)`),
    h("bdi", {}, whole));
}

export const section = (title, ...children) => {
  const id = title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);
};

export const note = (...children) => h("p", { class: "note" }, ...children);

let tables = 0;

/// `columns`: strings, or {head, number: true} for figures. Cells are text or elements; a missing one is "–".
export function table(caption, columns, rows) {
  if (rows.length === 0) return null;
  const heads = columns.map((column) => (typeof column === "string" ? { head: column } : column));
  const cell = (value, i) => {
    const attributes = { class: heads[i].number ? "number" : undefined };
    return i === 0 ? h("th", { scope: "row", ...attributes }, value ?? "–") : h("td", attributes, value ?? "–");
  };
  const id = `table-${++tables}`;
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": id },
    h("table", {}, h("caption", { id }, caption),
      h("thead", {}, h("tr", {}, heads.map((c) => h("th", { scope: "col", class: c.number ? "number" : undefined }, c.head)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell))))));
}

/// Keys and values; what has no value is left out.
export const facts = (pairs) => {
  const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return h("dl", { class: "facts" }, known.map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, value))));
};
