// From the document inside the page to what is to be seen.
import { comparePage } from "./compare.js";
import { h } from "./dom.js";
import { runPage } from "./run.js";
import { labPage, validationPage } from "./studies.js";
import { sweepPage, tablePage } from "./sweep.js";
import { turn } from "./theme.js";

const PAGES = {
  "rubato.run/1": runPage, "rubato.compare/1": comparePage, "rubato.sweep/1": sweepPage, "rubato.sweep_table/1": tablePage,
  "rubato.validate/1": validationPage, "rubato.lab/1": labPage,
};

const page = JSON.parse(document.getElementById("rubato-document").textContent);
const main = document.getElementById("main");
const draw = () => {
  main.replaceChildren(h("div", { class: "tools screen" }, h("button", { type: "button", onclick: turn }, "Light / dark"), h("button", { type: "button", onclick: () => print() }, "Print")));
  try {
    PAGES[page.report.schema](page, main);
  } catch (error) {
    // Somebody else's document may lack what its schema promises.
    main.append(h("p", { class: "say bad" }, `This document cannot be shown to its end: ${error.message}`));
  }
  main.append(h("footer", {}, h("p", { class: "note" }, `Made by rubato ${page.rubato_version}. This file asks nothing of any network. `,
    "How to read it: docs/reading-a-report.md.")));
};
// Text first: the samples behind it in the file are still being read.
draw();
if (!page.series?.length) document.documentElement.dataset.ready = "1";
