// Tables whose identity lasts from one second to the next.
import { h } from "../src/dom.js";

export const number = (head, title) => ({ head, number: true, title });

/// As table() of the reports, but with an id of its own; `keys` name the rows where they come and go. Null: no rows.
export function grid(id, caption, columns, rows, keys = []) {
  if (rows.length === 0) return null;
  const heads = columns.map((column) => (typeof column === "string" ? { head: column } : column));
  const cell = (value, i) => {
    const attributes = { class: heads[i].number ? "number" : undefined };
    return i === 0 ? h("th", { scope: "row", ...attributes }, value ?? "–") : h("td", attributes, value ?? "–");
  };
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-labelledby": id },
    h("table", {}, h("caption", { id }, caption),
      h("thead", {}, h("tr", {}, heads.map((c) => h("th", { scope: "col", class: c.number ? "number" : undefined, title: c.title }, c.head)))),
      h("tbody", {}, rows.map((row, i) => h("tr", { "data-key": keys[i] }, row.map(cell))))));
}
