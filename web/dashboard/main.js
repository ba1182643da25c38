// Which page this is, and whether what it shows is of now.
import { h, note } from "../src/dom.js";
import { turn } from "../src/theme.js";
import { clock } from "./charts.js";
import { Live } from "./live.js";
import { nodePage, ownCost } from "./node.js";
import { Past } from "./past.js";
import { runPage } from "./run.js";

const today = new Date();
today.setHours(0, 0, 0, 0);
// Moments are seconds since this midnight, where the reader is.
const zero = today.getTime() / 1000;
const past = new Past(zero);

const STATES = {
  connecting: () => ["Asking rubato-exporter …", false],
  live: () => ["Live: every second", false],
  paused: () => ["Paused while nobody looks", false],
  old: (at) => [`Nothing new since ${at}: the exporter waits for the GPU's driver. These figures are old.`, true],
  lost: (at) => [`No news from rubato-exporter since ${at}. These figures are old. Asking again every two seconds.`, true],
  locked: () => ["The token is another one now. Open this page by the link with the new one: rubato-exporter names its file when it starts.", true],
  full: () => ["As many pages as rubato-exporter serves are open already. Close one; this one goes on asking.", true],
};

const main = document.getElementById("main");
const [head, state, content, foot] = [h("header"), h("p", { id: "state", class: "state", role: "status" }), h("div", { id: "content" }), h("footer")];
main.replaceChildren(h("div", { class: "tools screen" }, h("button", { type: "button", onclick: turn }, "Light / dark")), head, state, content, foot);
head.append(h("h1", {}, "rubato"));

// Ids have no letter that an address would write otherwise; anything else is no run, and said to be none.
const run = location.pathname.startsWith("/runs/") ? location.pathname.slice("/runs/".length) : null;
const page = run === null ? nodePage(head, content, past) : runPage(run, head, content, past);

async function readRuns() {
  try {
    const answer = await fetch("/api/runs");
    if (answer.ok) page.runs(await answer.json());
  } catch {
    // It is asked for again when the exporter is back, and says so.
  }
}

new Live({
  onHistory: (history) => past.fill(history),
  onRuns: readRuns,
  onNode: (node) => {
    past.add(node);
    page.node(node);
    foot.replaceChildren(note(ownCost(node.own), " How to read this: docs/dashboard.md."));
    document.documentElement.dataset.at = node.at_s;
  },
  onState: ({ name, since }) => {
    const [text, bad] = STATES[name](since ? clock(since.getTime() / 1000 - zero) : "the page was opened");
    state.textContent = text;
    state.classList.toggle("bad", bad);
    document.documentElement.dataset.live = name;
    content.classList.toggle("stale", bad);
  },
});
