// Light, dark, or as the system has it. Paper is always light.

const listeners = [];
let printing = false;
let chosen = null;

const apply = () => {
  const theme = printing ? "light" : chosen;
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const listener of listeners) listener();
};

export const onTheme = (listener) => listeners.push(listener);
export const ink = (variable) => getComputedStyle(document.documentElement).getPropertyValue(variable).trim();

const dark = matchMedia("(prefers-color-scheme: dark)");
dark.addEventListener("change", apply);
const print = (is) => {
  if (printing === is) return;
  printing = is;
  apply();
};
addEventListener("beforeprint", () => print(true));
addEventListener("afterprint", () => print(false));
matchMedia("print").addEventListener("change", (event) => print(event.matches));

/// The other one of light and dark.
export function turn() {
  const now = chosen ?? (dark.matches ? "dark" : "light");
  chosen = now === "dark" ? "light" : "dark";
  apply();
}
