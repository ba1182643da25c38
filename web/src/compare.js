// Two runs beside each other.
import { facts, h, name, section, table } from "./dom.js";
import * as f from "./format.js";
import { commandLine, ending, timelineOf } from "./run.js";
import { searchesSection } from "./search.js";

const number = (head) => ({ head, number: true });
const joulesSeconds = (v) => (typeof v === "number" ? `${v.toPrecision(4)} J s` : null);
const METRICS = { time_s: ["time", f.seconds], energy_j: ["GPU energy", f.joules], mean_power_w: ["mean power", f.watts], energy_delay_js: ["energy × time", joulesSeconds] };
const RANGES = { confidence_90: "90 % confidence interval", sensor_bands: "the sensors' bands", none: "" };

const signed = (fraction) => (typeof fraction === "number" ? (fraction > 0 ? "+" : "") + f.percent(fraction) : null);

function row([key, metric]) {
  const [label, text] = METRICS[key];
  const range = metric.low === null ? (metric.why_no_range ?? metric.why_no_difference ?? "") : `${signed(metric.low)} to ${signed(metric.high)}`;
  const told = metric.distinguishable === null ? "" : metric.distinguishable ? "yes" : "no: not distinguishable";
  return [label, text(metric.a), text(metric.b), signed(metric.difference), range, RANGES[metric.range] ?? "", told];
}

const metrics = (title, group) => table(title, ["", number("A"), number("B"), number("B against A"), "range", "which is", "a difference?"], Object.entries(group).map(row));

const side = (letter, s) => h("div", { class: "gpu" }, h("h3", {}, `${letter} · `, name(s.run_id)), facts([
  ["mode", s.mode], ["command", s.command.length > 0 ? name(commandLine(s.command)) : null], ["ended", ending(s)], ["iterations", f.count(s.iterations)],
  ["settled at", f.setting(s.settled_setting)], ["GPUs", h("span", {}, s.gpus.map((g) => h("div", {}, name(g.name), `, ${g.quality}`)))]]));

export function comparePage(page, main) {
  const { report: c } = page;
  const { difference, distinguishable } = c.per_iteration.energy_j.difference === null ? c.whole_run.energy_j : c.per_iteration.energy_j;
  const what = c.per_iteration.energy_j.difference === null ? "in the whole run" : "per iteration";
  const verdict = difference === null ? "The energy of the two runs cannot be compared." :
    distinguishable === false ? `No difference in GPU energy ${what} can be told from the noise.` :
      `B took ${f.percent(Math.abs(difference))} ${difference < 0 ? "less" : "more"} GPU energy ${what} than A.`;
  const timeline = timelineOf(page, page.length_s);
  main.append(h("header", {}, h("h1", {}, "rubato compare"), h("p", { class: "say bold" }, verdict)),
    ...c.warnings.map((w) => h("p", { class: "say bad" }, w.sentence)),
    h("div", { class: "sides" }, side("A", c.a), side("B", c.b)),
    section("Figures", metrics("Per iteration, where each run settled", c.per_iteration) ?? "", metrics("Whole runs, start and search included", c.whole_run) ?? ""),
    section("Over time, each from its own begin", timeline.element),
    searchesSection(page) ?? "",
    c.differing.length > 0 ? section("What else differs", table("Facts", ["", "A", "B"], c.differing.map((d) => [d.name.replaceAll("_", " "), name(d.a), name(d.b)]))) : "");
}
