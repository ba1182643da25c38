// A sweep: what each setting cost, its intervals, and the settings nothing measured is better than.
import { facts, h, name, section, table } from "./dom.js";
import * as f from "./format.js";
import { plot } from "./svgplot.js";

const number = (head) => ({ head, number: true });
const KNOBS = { power_limit_w: "power limit, W", sm_clock_mhz: "SM clock, MHz", memory_clock_mhz: "memory clock, MHz" };
const quotient = (q) => (q ? f.fixed(q.value, 4) + (typeof q.low_90 === "number" ? ` (${f.fixed(q.low_90, 4)} to ${f.fixed(q.high_90, 4)})` : "") : null);
const limits = (axis, q) => (typeof q?.low_90 === "number" ? { [`${axis}_low`]: q.low_90, [`${axis}_high`]: q.high_90 } : {});
const same = (a, b) => Object.keys(KNOBS).every((k) => (a[k] ?? null) === (b[k] ?? null));

/// Settings by time, none of which is both slower and dearer than another.
function front(settings) {
  let least = Infinity;
  return [...settings].sort((a, b) => a.time_over_default.value - b.time_over_default.value || a.energy_over_default.value - b.energy_over_default.value)
    .filter((s) => s.energy_over_default.value < least && (least = s.energy_over_default.value));
}

function pictures(settings, best) {
  const measured = settings.filter((s) => s.used !== false && s.time_over_default);
  const along = front(measured);
  const points = measured.map((s) => ({ x: s.time_over_default.value, y: s.energy_over_default.value, ...limits("x", s.time_over_default), ...limits("y", s.energy_over_default),
    what: `${f.setting(s.setting)}: time ${quotient(s.time_over_default)}, energy ${quotient(s.energy_over_default)}`, label: measured.length <= 16 ? f.setting(s.setting) : "",
    mark: s.default ? "found" : best && same(s.setting, best) ? "chosen" : along.includes(s) ? "plain" : "later", tone: s.default ? 1 : along.includes(s) ? 2 : 0 }));
  const plane = plot({ x: "time over the default's", y: "energy over the default's", points,
    lines: [{ points: along.map((s) => ({ x: s.time_over_default.value, y: s.energy_over_default.value })), tone: 2 }],
    describe: `${measured.length} settings on the plane of time and energy; the same figures stand in the table below` });
  const curves = Object.entries(KNOBS).map(([knob, label]) => {
    const own = measured.filter((s) => typeof s.setting[knob] === "number");
    if (new Set(own.map((s) => s.setting[knob])).size < 2) return null;
    const others = Object.keys(KNOBS).filter((k) => k !== knob);
    const groups = new Map();
    for (const s of own) {
      const group = others.map((k) => s.setting[k] ?? "").join("/");
      groups.set(group, [...(groups.get(group) ?? []), s]);
    }
    const parts = (key, tone) => [...groups.values()].map((group) => group.sort((a, b) => a.setting[knob] - b.setting[knob])).map((group) => ({
      tone, points: group.map((s) => ({ x: s.setting[knob], y: s[key].value, ...limits("y", s[key]), what: `${f.setting(s.setting)}: ${quotient(s[key])}`, tone })) }));
    const lines = [...parts("energy_over_default", 2), ...parts("time_over_default", 0)];
    return h("figure", {}, plot({ x: label, y: "over the default's", lines, points: lines.flatMap((l) => l.points), describe: `time and energy against ${label}; the same figures stand in the table below` }),
      h("figcaption", {}, h("span", { class: "swatch line-2" }), " energy ", h("span", { class: "swatch line-0" }), " time, both over the default's; bars are 90 % confidence intervals where there are any"));
  }).filter(Boolean);
  return [plane ? h("figure", {}, plane, h("figcaption", {}, "Square: the default. The line joins the Pareto front: nothing measured is both faster and cheaper. Hollow: beaten by another setting.")) : null, ...curves];
}

const settingTable = (settings) => table("Settings", ["setting", number("runs"), number("time"), number("energy"), number("power"), number("time over default"), number("energy over default"), "notes"],
  settings.map((s) => [f.setting(s.setting) + (s.default ? " (default)" : ""), f.count(s.runs), f.seconds(s.time_s), f.joules(s.energy_j), f.watts(s.power_w), quotient(s.time_over_default), quotient(s.energy_over_default),
    [...(s.notes ?? []), ...(s.not_used ?? [])].map((n) => h("div", {}, name(n)))]));

export function sweepPage(page, main) {
  const { report: s } = page;
  const bound = s.best_inside_bound;
  const best = bound?.setting ?? s.best?.energy?.setting;
  main.append(h("header", {}, h("h1", {}, "rubato sweep ", name(s.workload)), s.command ? h("p", { class: "command" }, "$ ", name(s.command)) : null),
    h("p", { class: "say bold" }, s.why_no_result ?? (bound ? `Of what keeps the job at most ${f.percent(bound.max_slowdown)} slower, ${f.setting(bound.setting)} takes the least energy${bound.surely ? "" : "; that it stays inside the bound is not sure"}.` :
      `The least energy was taken at ${f.setting(best)}.`)),
    s.complete ? "" : h("p", { class: "say bad" }, `The sweep is not complete: ${s.why_not_complete}`),
    section("Curves", ...pictures(s.settings ?? [], best).filter(Boolean)), section("Figures", settingTable(s.settings ?? []) ?? ""),
    section("How it was measured", facts([["GPU", name(s.gpu)], ["kind", f.kinds[s.quality] ?? s.quality], ["unit of work", s.unit_of_work], ["found limit", f.watts(s.found_power_limit_w)],
      ["scatter of one run", s.scatter ? `time ${f.percent(s.scatter.time, 2) ?? "unknown"}, energy ${f.percent(s.scatter.energy, 2) ?? "unknown"}` : null]])));
}

/// A sweep table: one section per workload.
export function tablePage(page, main) {
  const { report: t } = page;
  main.append(h("header", {}, h("h1", {}, "Sweep table ", name(t.file)), h("p", { class: "note" }, `${t.rows} rows, ${t.workloads.length} distinct workloads. A table has one figure for each setting, so there are no intervals.`)));
  for (const w of t.workloads)
    main.append(section(`${w.gpu} · ${w.workload}`.slice(0, 200), w.default_assumed ? h("p", {}, "No row says that it is the default: the highest value of every knob is assumed.") : "",
      ...pictures(w.settings, null).filter(Boolean), settingTable(w.settings) ?? ""));
}
