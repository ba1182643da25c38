// What was found about models and strategies: `model validate` and `lab run`.
import { facts, h, name, section, table } from "./dom.js";
import * as f from "./format.js";
import { plot } from "./svgplot.js";

const number = (head) => ({ head, number: true });
const p = (v) => f.percent(v, 2);

export function validationPage(page, main) {
  const { report: v } = page;
  const bound = v.at_bound;
  const rows = (v.per_workload ?? []).flatMap((w) => w.rows.filter((r) => !r.probed && r.time !== 1).map((r) => ({ ...r, of: w })));
  const scatter = (what, measured, predicted) => plot({ x: `${what} over the default's, measured`, y: "predicted",
    points: rows.filter((r) => typeof r[measured] === "number" && typeof r[predicted] === "number").map((r) => ({ x: r[measured], y: r[predicted], what: `${r.of.workload}: ${f.fixed(r[measured], 3)} measured, ${f.fixed(r[predicted], 3)} predicted` })),
    lines: [{ points: [Math.min(...rows.map((r) => r[measured])), Math.max(...rows.map((r) => r[measured]))].map((x) => ({ x, y: x })), dashed: true, tone: 1 }],
    describe: `predicted ${what} against measured for ${rows.length} rows` });
  main.append(h("header", {}, h("h1", {}, "rubato model validate: ", name(v.model))),
    h("p", { class: "say bold" }, `On ${f.count(v.workloads_distinct)} workloads it has not seen, the model is off by ${p(v.time_mape)} in time and ${p(v.energy_mape)} in energy.`),
    section("Errors", table("Mean errors and regrets", ["", number("this model"), number("mean curve"), number("noise of the table")], [
      ["time", p(v.time_mape), p(v.mean_curve?.time_mape), p(v.noise_floor?.time_mape)], ["energy", p(v.energy_mape), p(v.mean_curve?.energy_mape), p(v.noise_floor?.energy_mape)], ["energy × time", p(v.edp_mape), null, null],
      ["energy regret", p(v.energy_regret), p(v.mean_curve?.energy_regret), null], ["energy × time regret", p(v.edp_regret), null, null], ["rows inside the 90 % intervals", p(v.interval_coverage_90), null, null]])),
    bound ? section("At the bound", facts([["bound", p(bound.max_slowdown)], ["saved", p(bound.saving)], ["the best would have saved", p(bound.oracle_saving)], ["captured", p(bound.captured)], ["worst slowdown", p(bound.worst_slowdown)]])) : "",
    rows.length > 0 ? section("Predicted against measured", h("figure", {}, scatter("time", "time", "predicted_time")), h("figure", {}, scatter("energy", "energy", "predicted_energy")),
      table("Workloads", ["workload", "GPU", "chosen", number("slowdown"), number("saved"), number("best"), number("energy regret")],
        v.per_workload.map((w) => [name(w.workload), name(w.gpu), f.setting(w.chosen), p(w.slowdown), p(w.saving), p(w.oracle_saving), p(w.energy_regret)]))) :
      h("p", { class: "note" }, "With -v the document holds every row, and this page then shows them."),
    section("What was asked", facts([["knobs", v.knobs.join(", ")], ["probes", f.count(v.probes)], ["host", f.watts(v.host_watts)], ["groups", f.count(v.groups)], ["workloads", `${v.workloads}, ${v.workloads_distinct} distinct`]])));
}

export function labPage(page, main) {
  const { report: l } = page;
  const did = l.strategies.filter((s) => s.applicable);
  const left = l.strategies.filter((s) => !s.applicable);
  const mean = (s) => ({ x: 100 * s.slowdown_mean, y: 100 * s.saving_mean, what: `${s.name}: ${p(s.saving_mean)} saved, ${p(s.slowdown_mean)} slower`, label: s.name, mark: "chosen", tone: did.indexOf(s) % 8 });
  const runs = did.flatMap((s, k) => (s.rows ?? []).map((r) => ({ x: 100 * r.slowdown, y: 100 * r.saving, what: `${s.name}, ${r.workload}: ${p(r.saving)} saved, ${p(r.slowdown)} slower`, mark: "later", tone: k % 8 })));
  const oracle = did[0]?.fixed_oracle_saving_mean;
  const picture = plot({ x: "more time, whole run, %", y: "energy saved, whole run, %", points: [...runs, ...did.map(mean)],
    bounds: [{ x: 100 * l.max_slowdown, what: `bound ${p(l.max_slowdown)}` }, ...(typeof oracle === "number" ? [{ y: 100 * oracle, what: "best fixed setting" }] : [])], describe: "mean saving and slowdown of each strategy; the same figures stand in the table below" });
  main.append(h("header", {}, h("h1", {}, "rubato lab ", name(l.table ?? l.suite)), h("p", { class: "note" }, f.kinds[l.kind] ?? l.kind)),
    section("Strategies", h("figure", {}, picture ?? "", h("figcaption", {}, "Diamonds: means over all runs. Hollow: single runs, where the document has them (-v).")),
      table("Whole runs, search included", ["strategy", number("saved"), number("best fixed"), number("best mixed"), number("captured"), number("slowdown"), number("largest"), number("over the bound"), number("tried"), number("settled")],
        did.map((s) => [name(s.name), p(s.saving_mean), p(s.fixed_oracle_saving_mean), p(s.mixed_oracle_saving_mean), p(s.captured), p(s.slowdown_mean), p(s.slowdown_max), `${s.bound_violations} of ${s.runs}`, f.fixed(s.settings_tried_mean, 1), `${s.settled} of ${s.runs}`]))),
    left.length > 0 ? section("Not applicable here", table("Strategies that need more", ["strategy", "needs"], left.map((s) => [name(s.name), name(s.needs.join("; "))]))) : "",
    section("What was asked", facts([["bound", p(l.max_slowdown)], ["knobs", l.knobs.join(", ")], ["iterations", f.count(l.iterations)], ["iteration", f.seconds(l.iteration_s)], ["resolution", l.resolution], ["truth", l.truth],
      ["noise", l.noise ? `${l.noise.model}, ${p(l.noise.level)}` : null], ["seeds", f.count(l.seeds)], ["host", f.watts(l.host_watts)], ["workloads", f.count(l.workloads)]])));
}
