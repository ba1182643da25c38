// A run: what it cost, what was saved, how, and how far each figure is to be believed.
import { facts, h, name, note, section, table } from "./dom.js";
import * as f from "./format.js";
import { searchSection } from "./search.js";
import { fill } from "./series.js";
import { Timeline } from "./timeline.js";

const number = (head) => ({ head, number: true });
const list = (items) => (items.length === 0 ? null : h("ul", {}, items.map((item) => h("li", {}, item))));
const energyOf = (figure) => (figure ? f.figure(figure.energy_j, figure.band_sampling_j, figure.band_calibration_j) : null);
const setTo = (gpu) => (f.setting(gpu.requested) === "as found" ? "nothing was set" : f.setting(gpu.requested));

export function ending(run) {
  const status = run.exit_status;
  if (run.running) return "still running";
  if (!run.complete) return "cut short";
  if (!status || run.command.length === 0) return null;
  return status.signal !== undefined ? `killed by signal ${status.signal}` : `exit status ${status.code}`;
}

/// The tools quote what a shell would take apart.
export const commandLine = (words) => words.map((w) => (/^[\w@%+=:,./-]+$/.test(w) ? w : `'${w.replaceAll("'", "'\\''")}'`)).join(" ");

export function title(run) {
  return h("header", {},
    h("h1", {}, `rubato ${run.mode} `, name(run.run_id)),
    run.command.length > 0 ? h("p", { class: "command" }, "$ ", name(commandLine(run.command))) : null,
    h("p", { class: "note" }, [ending(run), f.seconds(run.duration_s), `${f.count(run.iterations)} iterations`,
      `${run.gpus.length} GPU${run.gpus.length === 1 ? "" : "s"}`, `started ${run.started_at}`].filter(Boolean).join(" · ")));
}

// A figure and its percent sign stay on one line.
const says = (sentences) => sentences.map(({ text, tone }) => h("p", { class: `say ${tone ?? ""}` }, text.replaceAll(" %", "\u00a0%")));

const card = (head, value, below) => (value ? h("div", { class: "card" }, h("span", { class: "head" }, head), h("strong", {}, value), below ? h("span", { class: "below" }, below) : null) : null);

function costs(page) {
  const { report: run } = page;
  const gpus = run.gpus.length;
  const hours = (run.duration_s * gpus) / 3600;
  const s = run.savings;
  const whole = s?.whole_run;
  const longer = whole ? (whole.longer_s * gpus) / 3600 : null;
  const p = run.footprint;
  const kwh = whole ? whole.energy_saved_j / 3.6e6 : null;
  const share = (total) => (p && total !== null && p.energy_kwh > 0 && kwh !== null ? (total / p.energy_kwh) * kwh : null);
  const signed = (value, text) => (value === null ? null : value < 0 ? `${text(-value)} more` : `${text(value)} less`);
  return h("div", { class: "cards" },
    card("GPU energy", f.joules(run.energy_j), run.energy_j === null ? null : `${f.fixed(run.energy_j / 3.6e6, 4)} kWh, boards alone`),
    card("allocation", gpus ? `${f.fixed(hours, 3)} GPU-hours` : null, longer === null ? "from begin to end, on every GPU" : `${f.fixed(longer, 3)} of them because the run took longer`),
    s ? card("energy per iteration", f.estimate(s.energy_per_iteration_saved), "saved, against the setting that was found") : null,
    s ? card("time per iteration", f.estimate(s.slowdown), "more, against the setting that was found") : null,
    whole ? card("whole run, boards", f.estimate(whole.energy_saved), `saved: ${f.joules(whole.energy_saved_j)}`) : null,
    whole ? card("whole run, boards + host", f.joules(whole.energy_saved_with_host_j) ?? "unknown",
      whole.energy_saved_with_host_j === null ? "what the host draws is not known: no meter tells" : `saved, with ${f.watts(run.host_watts?.value_w) ?? "the host's watts"} drawn beside the GPUs`) : null,
    whole?.vanishes_at_host_w ? card("nothing is saved at", f.watts(whole.vanishes_at_host_w), "drawn by the host beside the GPUs") : null,
    p ? card("electricity", p.cost === null ? null : `${f.about(p.cost)} ${p.currency}`, `computed${share(p.cost) === null ? "" : `; ${signed(share(p.cost), (v) => `${f.about(v)} ${p.currency}`)}`}`) : null,
    p ? card("CO2", p.co2_g === null ? null : `${f.about(p.co2_g)} g`, `computed${share(p.co2_g) === null ? "" : `; ${signed(share(p.co2_g), (v) => `${f.about(v)} g`)}`}`) : null);
}

function gpuSection(gpu) {
  const put = { not_needed: "not needed", restored: "yes", failed: "NO: run rubato restore", left_alone: "left alone" }[gpu.restoration] ?? "not known";
  return h("div", { class: "gpu" }, h("h3", {}, `GPU ${gpu.index} · `, name(gpu.name)),
    facts([
      ["energy", f.figure(gpu.energy_j, gpu.energy_band_sampling_j, gpu.energy_band_calibration_j) ?? `unknown: ${gpu.why_no_energy}`],
      ["mean power", gpu.mean_power_w === null ? null : `${f.watts(gpu.mean_power_w)} over ${f.seconds(gpu.measured_s)}`],
      ["kind", f.kinds[gpu.quality] ?? gpu.quality],
      ["source", gpu.energy_source ? h("span", {}, gpu.energy_source, gpu.energy_source_detail ? `: ${gpu.energy_source_detail}` : "") : null],
      ["found", f.setting(gpu.found)], ["set to", setTo(gpu)],
      ["put back", gpu.restoration_detail ? h("span", {}, `${put}: `, name(gpu.restoration_detail)) : put], ["UUID", name(gpu.uuid)]]));
}

const settingsTable = (run) => table("Settings, all GPUs together", ["for", "setting", number("stretches"), number("time"), number("iterations"), number("each"), number("energy each"), number("power")],
  run.settings.map((s) => [s.role, f.setting(s.setting), f.count(s.stretches), f.seconds(s.time_s), f.count(s.iterations), f.seconds(s.iteration_time_s), f.joules(s.energy_per_iteration_j), f.watts(s.mean_power_w)]));

/// Energies by source; where there are several, each with its name.
function split(run, entries) {
  const names = new Map((run.sources ?? []).map((s) => [s.source, s.name]));
  const rows = (entries ?? []).flatMap((e) => [e.measured, e.apportioned, e.energy].filter(Boolean).map((figure) => h("div", {},
    names.size > 1 ? [name(names.get(e.source) ?? e.source), ": "] : "", `${energyOf(figure)} (${f.kindOf(figure)})`)));
  return rows.length === 0 ? null : rows;
}

function parts(run) {
  const spans = (title, rows, label) => table(title, [label, number("from"), number("for"), number("iterations"), number("iteration time"), "energy"],
    (rows ?? []).map((s) => [name(s.name ?? s.epoch), f.moment(s.begin_s, 0.1), f.seconds(s.end_s - s.begin_s) + (s.cut_short ? ", cut short" : ""), f.count(s.iterations), f.seconds(s.iteration_time_s),
      split(run, s.energy)]));
  const kernels = (run.kernels ?? []).flatMap((k) => [
    table(`Layers by kernel time, ${k.kind}, ${k.apportioned_by}`, ["layer", number("times"), number("time"), number("share"), number("energy")],
      k.layers.map((l) => [name(l.name || "without a layer"), f.count(l.times), f.seconds(l.time_s), f.percent(l.share), f.joules(l.energy_j)])),
    table(`Kernels by time, ${k.kind}, ${k.apportioned_by}`, ["kernel", number("times"), number("time"), number("share"), number("energy")],
      k.names.map((l) => [name(l.name), f.count(l.times), f.seconds(l.time_s), f.percent(l.share), f.joules(l.energy_j)]))]);
  const content = [
    table("Parts of the run, without overlap", ["part", number("times"), number("time"), "energy"], (run.parts?.rows ?? []).map((p) => [p.part, f.count(p.times), f.seconds(p.time_s), split(run, p.energy)])),
    table("Phases, by the host's clock", ["phase", number("times"), number("time"), "energy"], (run.phases ?? []).map((p) => [name(p.phase), f.count(p.times), f.seconds(p.time_s), split(run, p.energy)])),
    spans("Epochs", run.epochs, "epoch"), spans("Windows of the program", run.windows, "window"), ...kernels].filter(Boolean);
  return content.length === 0 ? null : section("What the energy belongs to", ...content);
}

function iteration(run) {
  const i = run.iteration;
  if (!i) return null;
  const t = i.time_s;
  return section("The iteration", facts([
    ["counted", f.count(i.count)], ["time", t ? `median ${f.seconds(t.median)}, mean ${f.seconds(t.mean)} ± ${f.seconds(t.deviation)} (standard deviation)` : null],
    ["5th to 95th percentile", t ? `${f.seconds(i.time_p05_s)} to ${f.seconds(i.time_p95_s)}` : null],
    ["found by", i.source ?? null], ["sure", typeof i.confidence === "number" ? f.percent(i.confidence) : null], ["why", i.why ?? null], ["other sources", i.check ? i.check : null]]));
}

function quality(run) {
  return section("What the figures are",
    h("p", {}, "Scopes contain one another and are never added."),
    table("Sources", ["source", "scope", "kind", number("updates every"), "inside", "energy"],
      (run.sources ?? []).map((s) => [name(s.name), s.scope, s.kind, f.seconds(s.update_period_s), s.inside ? name(s.inside) : null, energyOf(s.energy)])),
    list((run.sources ?? []).filter((s) => s.detail).map((s) => h("span", {}, name(s.name), `: ${s.detail}`))),
    list((run.sources ?? []).filter((s) => s.lag_quality).map((s) => h("span", {}, name(s.name), `: ${s.lag_s === null ? "lag not known" : `behind the GPUs by ${f.seconds(s.lag_s)}`}, ${s.lag_quality}`))),
    run.savings?.method ? note(`Intervals of the saving: ${run.savings.method}`) : null,
    h("dl", { class: "facts" }, Object.entries(f.kinds).map(([kind, what]) => h("div", {}, h("dt", {}, kind), h("dd", {}, what.replace(/^[A-Z][a-z]+: ?/, ""))))));
}

function log(page) {
  const { report: run } = page;
  const rows = (items, text) => items.map((d) => h("li", {}, h("button", { type: "button", class: "at", "data-at": d.at_s, title: "Show this moment in the charts" }, f.moment(d.at_s, 0.1)), " ", text(d)));
  const decisions = rows(run.decisions, (d) => {
    const setting = f.setting(d.setting);
    return [h("b", {}, d.action.replaceAll("_", " "), setting === "as found" ? "" : ` ${setting}`), ": ", name(d.why)];
  });
  const events = rows(page.events, (e) => name(e.what));
  return section("What was decided, and why", decisions.length > 0 ? h("ol", { class: "log" }, decisions) : h("p", {}, "Nothing was decided in this run: it was only measured."),
    events.length > 0 ? [h("h3", {}, "Worth knowing"), h("ol", { class: "log" }, events)] : null,
    table("Changes of settings", [number("at"), "GPU", "by", "asked", "read back", number("enforced"), "outcome"],
      run.setting_changes.map((c) => [f.moment(c.at_s, 0.1), name(c.gpu), c.who, f.setting(c.asked), f.setting(c.requested), f.watts(c.enforced_w), name(c.outcome)])));
}

function environment(run) {
  const c = run.own_cost;
  const shown = (remarks) => list((remarks ?? []).map((r) => h("span", {}, `${f.moment(r.at_s, 0.1)} `, name(r.text))));
  return section("Environment", facts([
    ["rubato", run.rubato_version], ["host", name(run.host)], ["started", run.started_at],
    ["clock", run.clock_rate === 1 ? "the wall clock" : `a simulated world, ${run.clock_rate} times as fast as the wall clock`],
    ["host watts", run.host_watts ? `${f.watts(run.host_watts.value_w) ?? "unknown"}: ${run.host_watts.quality}` : null],
    ["own cost", c ? `${f.seconds(c.cpu_s)} of CPU${c.cpu_fraction === null ? "" : ` (${f.percent(c.cpu_fraction, 3)} of one core)`}, ${f.count(c.driver_calls)} driver calls that took ${f.seconds(c.driver_s)}` : null],
    ["computed from", run.footprint ? run.footprint.basis : null]]),
    shown(run.hooks), shown(run.problems),
    run.bystanders.length > 0 ? table("GPUs on which the job never computed; in no figure above", ["GPU", "UUID", "kind", number("energy")],
      run.bystanders.map((b) => [name(b.name), name(b.uuid), b.quality, f.joules(b.energy_j)])) : null);
}

export function timelineOf(page, length) {
  const timeline = new Timeline(0, length, page.blocks);
  queueMicrotask(() => fill(timeline, page.series, page.outline));
  return timeline;
}

export function runPage(page, main) {
  const { report: run } = page;
  const timeline = timelineOf(page, run.duration_s ?? 1);
  main.append(title(run), ...says(page.headline), costs(page),
    section("Over time", timeline.element, page.resolution ? note(page.resolution) : null),
    searchSection(page) ?? "", section("GPUs", ...run.gpus.map(gpuSection), settingsTable(run) ?? ""),
    iteration(run) ?? "", parts(run) ?? "", log(page), quality(run), environment(run));
  main.addEventListener("click", (event) => {
    const at = Number(event.target.closest?.("[data-at]")?.dataset.at);
    if (!Number.isFinite(at)) return;
    const width = Math.min(60, run.duration_s ?? 60);
    timeline.view.set(at - width / 2, at + width / 2);
    timeline.element.querySelector(".chart")?.focus();
  });
}
