// The search as a picture: what was tried, what was expected, the bound, and what was chosen, on the plane of time and energy.
import { h, name, note, section, table } from "./dom.js";
import * as f from "./format.js";
import { plot } from "./svgplot.js";

const number = (head) => ({ head, number: true });
const OBJECTIVES = { energy: "least energy", edp: "least energy × time", ed2p: "least energy × time²", cost: "least cost" };

/// What an estimate is drawn as: percent, with its interval where there is one.
const bars = (axis, e, sign) => {
  if (!e || e.low_90 === null) return {};
  const low = sign * 100 * e.low_90, high = sign * 100 * e.high_90;
  return { [`${axis}_low`]: Math.min(low, high), [`${axis}_high`]: Math.max(low, high) };
};
const percentOver = (ratio) => 100 * (ratio - 1);

const heldOf = (settings) => settings.filter((s) => s.role === "hold").sort((a, b) => b.time_s - a.time_s)[0];

/// By time, none of which is both slower and dearer than another.
function front(points) {
  let least = Infinity;
  return [...points].sort((a, b) => a.x - b.x || a.y - b.y).filter((p) => p.y < least && ((least = p.y), true));
}

function measuredPoints({ search, settings, savings }) {
  const held = heldOf(settings);
  const chosen = held ? f.setting(held.setting) : null;
  const points = search.tried.filter((t) => t.energy_saved && t.slowdown).map((t) => {
    const what = f.setting(t.setting);
    return { x: 100 * t.slowdown.fraction, y: -100 * t.energy_saved.fraction, ...bars("x", t.slowdown, 1), ...bars("y", t.energy_saved, -1),
      what: `${what}: ${f.estimate(t.energy_saved)} less energy, ${f.estimate(t.slowdown)} more time`, label: what,
      mark: what === chosen ? "chosen" : t.while_watching ? "later" : "plain", tone: what === chosen ? 2 : 0 };
  });
  if (points.length === 0) return [];
  points.push({ x: 0, y: 0, what: "as found", label: "as found", mark: "found", tone: 1 });
  if (savings && !points.some((p) => p.mark === "chosen") && chosen && chosen !== "as found")
    points.push({ x: 100 * savings.slowdown.fraction, y: -100 * savings.energy_per_iteration_saved.fraction, ...bars("x", savings.slowdown, 1),
      ...bars("y", savings.energy_per_iteration_saved, -1), what: `held: ${chosen}`, label: chosen, mark: "chosen", tone: 2 });
  return points;
}

// Without the interval of time: most of what is not known of it lies along the curve.
const pointOf = (s) => ({ x: percentOver(s.time.ratio), y: percentOver(s.energy.ratio), y_low: percentOver(s.energy.low_90), y_high: percentOver(s.energy.high_90) });

function picture(of, expectation) {
  const points = measuredPoints(of);
  if (points.length === 0) return null;
  const curve = (expectation?.settings ?? []).filter((s) => s.on_curve).map(pointOf);
  const lines = [{ points: front(points), tone: 7, dashed: true }];
  if (curve.length > 1) lines.unshift({ points: curve, tone: 3, aside: true });
  const bound = of.goal?.max_slowdown;
  return plot({ x: "change of time per iteration, %", y: "change of energy per iteration, %", points, lines,
    bands: curve.length > 1 ? [{ points: curve, tone: 3 }] : [],
    bounds: typeof bound === "number" ? [{ x: 100 * bound, what: `bound ${f.percent(bound)}` }] : [],
    describe: `${points.length} settings${curve.length > 1 ? ", the curve that was expected" : ""} on the plane of time and energy; the same figures stand in the tables below` });
}

const key = (tone, dashed, text) => h("span", { class: "key" }, h("span", { class: `stroke line-${tone}${dashed ? " dashed" : ""}` }), ` ${text} `);

/// Where a piece of the picture is missing, it says so.
function caption(of, expectation) {
  const lacking = [];
  if (!of.goal) lacking.push("Bound and objective are not in this record: no strategy chose, or its rubato was older than 0.5.");
  else if (!expectation) lacking.push(`The strategy “${of.goal.strategy}” tells nothing it expects, so no curve is drawn.`);
  return h("figcaption", {}, key(7, true, "nothing measured is both faster and cheaper (Pareto front)"),
    expectation ? [" ", key(3, false, `expected at ${f.moment(expectation.at_s, 0.1)}; band: 90 % of its energy`)] : "",
    h("br"), "Square: the setting that was found. Diamond: the one that was held. Hollow: tried while watching. Lower is less energy, left is faster. Bars are 90 % confidence intervals.",
    lacking.length > 0 ? [" ", name(lacking.join(" "))] : "");
}

const saved = (ratio) => f.estimate({ fraction: 1 - ratio.ratio, low_90: 1 - ratio.high_90, high_90: 1 - ratio.low_90 });
const longer = (ratio) => f.estimate({ fraction: ratio.ratio - 1, low_90: ratio.low_90 - 1, high_90: ratio.high_90 - 1 });

const expectedTable = (expectation) => h("details", {}, h("summary", {}, `What was expected at ${f.moment(expectation.at_s, 0.1)}, as figures`),
  table("Expected, against the found setting (modelled)", ["setting", number("energy saved"), number("more time"), number("keeps the bound"), "measured before", "on the curve"],
    expectation.settings.map((s) => [f.setting(s.setting), saved(s.energy), longer(s.time), f.percent(s.holds, 0), s.measured ? "yes" : "no", s.on_curve ? "yes" : "no"])));

/// Picture, caption and figures, which change with the decision that is looked back to.
function views(of, all, why) {
  const choice = of.search.expected;
  const steps = all.length > 0 ? all : choice ? [choice] : [];
  let at = Math.max(0, steps.findIndex((e) => e.at_s === choice?.at_s));
  const place = h("div", {});
  const draw = () => {
    const expectation = steps[at] ?? null;
    const made = picture(of, expectation);
    place.replaceChildren(...[made ? h("figure", {}, made, caption(of, expectation)) : null, expectation ? expectedTable(expectation) : null].filter(Boolean));
  };
  draw();
  if (steps.length < 2) return [place];
  const text = (e) => {
    const said = [...why(e.at_s)];
    const when = f.moment(e.at_s, 0.1) + (e.at_s === choice?.at_s ? ", when it was chosen" : "");
    return said.length === 0 ? when : `${when}: ${said.slice(0, 90).join("")}${said.length > 90 ? "…" : ""}`;
  };
  const select = h("select", { onchange: () => { at = select.selectedIndex; draw(); } }, steps.map((e, i) => h("option", { selected: i === at }, text(e))));
  return [h("p", { class: "screen" }, h("label", { class: "chosen" }, "Expected at ", select)), place];
}

const goalText = (goal) => (goal ? `“${goal.strategy}” looked for ${OBJECTIVES[goal.objective] ?? goal.objective} at most ${f.percent(goal.max_slowdown)} slower${goal.host_w === null ? "" :
  `, with ${f.watts(goal.host_w)} drawn beside the GPUs`}${goal.second_w ? `, a second worth ${f.joules(goal.second_w)}` : ""}${
  goal.idle_w ? `, net of ${f.watts(goal.idle_w)} of an idle board` : ""}. ` : "");

function triedTable(search) {
  const expects = search.tried.some((t) => t.expected);
  return table("Tried, against the found setting", ["setting", number("first"), number("for"), number("iterations"), number("energy saved"), ...(expects ? [number("was expected")] : []),
    number("more time"), ...(expects ? [number("was expected")] : []), "when"],
  search.tried.map((t) => [f.setting(t.setting), f.moment(t.first_s, 0.1), f.seconds(t.time_s), f.count(t.iterations), f.estimate(t.energy_saved), ...(expects ? [f.estimate(t.expected?.energy_saved)] : []),
    f.estimate(t.slowdown), ...(expects ? [f.estimate(t.expected?.slowdown)] : []), t.while_watching ? "while watching" : "searching"]));
}

const story = ({ goal, search }) => h("p", {}, goalText(goal), `${search.settings_tried} settings were tried in ${f.seconds(search.searching_s)}` +
  (search.settled_s === null ? "; the run ended before one was held." : `, and from ${f.moment(search.settled_s, 0.1)} on one was held.`));

export function searchSection(page) {
  const { report: run } = page;
  if (!run.search) return null;
  const why = (at) => run.decisions.find((d) => d.at_s === at)?.why ?? "";
  return section("The search", story(run), ...views(run, page.expected ?? [], why), triedTable(run.search) ?? "");
}

/// Of two runs: beside each other, those that searched.
export function searchesSection(page) {
  const sides = (page.searches ?? []).map((of, i) => ({ letter: "AB"[i], of })).filter(({ of }) => of.search);
  if (sides.length === 0) return null;
  return section("The searches", page.searches.length > sides.length ? note(`${sides[0].letter === "A" ? "B" : "A"} tried no settings.`) : "",
    h("div", { class: "sides wide" }, sides.map(({ letter, of }) => h("div", {}, h("h3", {}, letter), story(of), ...views(of, of.expected ?? [], () => "")))),
    ...sides.map(({ letter, of }) => [h("h3", {}, `${letter}: what was tried`), triedTable(of.search)]));
}
