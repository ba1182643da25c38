// The node: its GPUs, the last minutes, the runs that go on and those that are over, and who computes.
import { h, name, note } from "../src/dom.js";
import * as f from "../src/format.js";
import { Charts } from "./charts.js";
import { grid, number } from "./grid.js";
import { show } from "./morph.js";
import { bar, card, command, doing, gpusOf, limit, limitedBy, mebibytes, plusMinus, runLink, runOf, settingState, share, whole, why } from "./words.js";

const CHARTS = [
  { key: "power_w", title: "Power", unit: "W", digits: 1 }, { key: "sm_clock_mhz", title: "SM clock", unit: "MHz", digits: 0 },
  { key: "sm_utilisation", title: "SM utilisation (fraction of time)", unit: "", digits: 2 }, { key: "temperature_c", title: "Temperature", unit: "°C", digits: 0 },
];
const PUT_BACK = { not_needed: "not needed", restored: "yes", failed: "NO: rubato restore", left_alone: "left alone" };

export const gpuLabel = (gpu) => `GPU ${gpu.index}`;

/// Power, and the limit in force where it is known.
export function powerTracks(past, gpus) {
  return gpus.flatMap((gpu, i) => [past.ofGpu(gpu.uuid, "power_w", gpuLabel(gpu), i), past.ofGpu(gpu.uuid, "power_limit_enforced_w", `${gpuLabel(gpu)}, limit in force`, i, true)]
    .filter(Boolean).map((track) => Object.assign(track, { owner: gpuLabel(gpu) })));
}
export const gpuTracks = (past, gpus, key) => (key === "power_w" ? powerTracks(past, gpus) :
  gpus.map((gpu, i) => past.ofGpu(gpu.uuid, key, gpuLabel(gpu), i)).filter(Boolean).map((track, i) => Object.assign(track, { owner: gpuLabel(gpus[i]) })));

function gpuTable(node) {
  const row = (gpu) => {
    const run = runOf(gpu, node.runs);
    const held = gpu.answers ? limitedBy(gpu.limiter) : `does not answer${gpu.reading_age_s === null ? "" : ` for ${f.seconds(gpu.reading_age_s)}`}`;
    return [h("span", { class: "gpu-name" }, `${gpu.index} `, name(gpu.name)), h("span", { class: "power" }, f.watts(gpu.power_w) ?? "–", bar(gpu)),
      limit(gpu.power_limit_requested_w), limit(gpu.power_limit_enforced_w), limit(gpu.power_limit_found_w), whole(gpu.sm_clock_mhz, "MHz"), whole(gpu.memory_clock_mhz, "MHz"),
      share(gpu.sm_utilisation), whole(gpu.temperature_c, "°C"), held, h("span", { class: gpu.setting === "unrestored" ? "bad" : undefined }, settingState(gpu) ?? "–"), run ? runLink(run.run_id) : null];
  };
  return grid("gpu-table", "GPUs now", ["GPU", number("power"), number("limit asked", "What somebody last asked for"), number("in force", "The lowest of all sources: asked, from outside the board, heat"),
    number("found", "The limit that the run found, and will put back"), number("SM clock"), number("memory clock"), number("busy", "Share of time with a kernel"),
    number("temp."), "held back by", "setting", "run"], node.gpus.map(row), node.gpus.map((gpu) => gpu.uuid));
}

function sensors(node) {
  const row = (gpu) => [gpuLabel(gpu), name(gpu.uuid), gpu.kind, gpu.sensor_update_period_s === null ? null : f.seconds(gpu.sensor_update_period_s),
    `± ${f.percent(gpu.calibration_band)} and ${f.watts(gpu.calibration_floor_w)}`, name(gpu.sensor_source || "not known"),
    gpu.energy_j === null ? null : f.figure(gpu.energy_j, gpu.energy_band_sampling_j, gpu.energy_band_calibration_j)];
  const kinds = [...new Set(node.gpus.map((gpu) => gpu.kind))];
  return h("details", { "data-key": "sensors" }, h("summary", {}, "What the figures are"),
    kinds.map((kind) => note(f.kinds[kind] ?? kind)), grid("sensor-table", "Sensors", ["GPU", "UUID", "kind", number("power updates every"), "its own error, at 95 %", "as told by",
      "energy since the exporter began"], node.gpus.map(row)));
}

function goingOn(node) {
  if (node.runs.length === 0) return [h("p", { "data-key": "none" }, "No run of rubato goes on that this exporter may see: those of its own user.")];
  const row = (run) => [runLink(run.run_id), command(run.command), gpusOf(run, node.gpus), h("span", {}, doing(run), h("span", { class: "why" }, name(why(run)))),
    run.iteration?.period_s ? f.seconds(run.iteration.period_s) : null, f.count(run.iterations), plusMinus(run.saving?.energy), plusMinus(run.saving?.time), f.seconds(run.running_s)];
  return [grid("running-table", "Going on", ["run", "command", "GPUs", "now", number("iteration"), number("done"), number("energy saved", "So far, search included, with half of its 90 % interval"),
    number("longer", "So far, against the run's own baseline"), number("for")], node.runs.map(row), node.runs.map((run) => run.run_id))];
}

export function ended(run) {
  if (run.running) return "goes on";
  if (!run.complete) return "cut short";
  const status = run.exit_status;
  if (!status) return run.command.length > 0 ? "job runs on" : null;
  return status.signal === undefined ? `exit ${status.code}` : `signal ${status.signal}`;
}

export const restored = (run) => [...new Set(run.gpus.map((gpu) => PUT_BACK[gpu.restoration] ?? "not known"))].join(", ") || null;

function over(book) {
  if (!book) return [h("p", { "data-key": "wait" }, "Reading the records …")];
  const done = book.runs.filter((run) => !run.running);
  const row = (run) => [runLink(run.run_id), run.mode, command(run.command), ended(run), f.seconds(run.duration_s), f.joules(run.energy_j), f.estimate(run.whole_run?.energy_saved), f.estimate(run.whole_run?.slowdown),
    restored(run), run.complete ? h("a", { href: `/runs/${encodeURIComponent(run.run_id)}/report`, "aria-label": `report of ${run.run_id}` }, "report") : null];
  const rest = [book.left_out > 0 ? `${f.count(book.left_out)} older runs are not listed: rubato runs.` : "", book.unreadable > 0 ? `${f.count(book.unreadable)} records cannot be read: rubato runs names them.` : ""];
  return [grid("over-table", "Over", ["run", "mode", "command", "ended", number("took"), number("GPU energy"), number("energy saved", "Of the whole run, search included, with its 90 % interval"), number("longer"), "put back", "report"],
    done.map(row), done.map((run) => run.run_id)) ?? h("p", { "data-key": "none" }, "No run is in the records yet."), ...rest.filter(Boolean).map((text) => note(text))];
}

function computing(node) {
  const index = new Map(node.gpus.map((gpu) => [gpu.uuid, gpu.index]));
  const row = (p) => [f.fixed(p.pid, 0), p.name === null ? "not seen from here" : name(p.name), name(p.user), p.gpus.map((uuid) => index.get(uuid) ?? "?").join(", "), mebibytes(p.memory_bytes), p.run_id ? runLink(p.run_id) : null];
  return [node.processes_unknown ? h("p", { "data-key": "why" }, "Not all can be listed: ", name(node.processes_unknown)) : null,
    grid("process-table", "Processes with a compute context", ["pid", "name", "user", "GPUs", number("GPU memory"), "run"], node.processes.map(row), node.processes.map((p) => p.pid)) ??
      h("p", { "data-key": "none" }, "Nobody computes here.")];
}

function summary(node) {
  const read = node.gpus.filter((gpu) => gpu.power_w !== null);
  const watts = read.reduce((sum, gpu) => sum + gpu.power_w, 0);
  const kinds = [...new Set(read.map((gpu) => gpu.kind))].join(", ");
  return [card("power of all boards", read.length > 0 ? f.watts(watts) : "unknown", read.length > 0 ? `${kinds}, of ${read.length} of ${node.gpus.length} GPU${node.gpus.length === 1 ? "" : "s"}` : "no GPU answers"),
    card("runs", String(node.runs.length), "go on, of this exporter's user"), card("processes", String(node.processes.length), "compute on these GPUs"),
    card("settings", node.gpus.some((gpu) => gpu.setting === "unrestored") ? "NOT RESTORED" : `${node.gpus.filter((gpu) => gpu.setting === "held").length} held`,
      node.gpus.some((gpu) => gpu.setting === "unrestored") ? "run: sudo rubato restore" : "by a guard that puts back what it found")];
}

export const ownCost = (own) => `rubato-exporter takes ${f.percent(own.cpu_s / own.up_s, 2)} of a core${own.memory_bytes ? ` and ${f.fixed(own.memory_bytes / 1e6, 0)} MB` : ""}, ` +
  `${f.count(own.driver_calls)} driver calls in ${f.seconds(own.driver_s)} since it began ${f.seconds(own.up_s)} ago; ${own.viewers} page${own.viewers === 1 ? "" : "s"} open.`;

export function nodePage(head, main, past) {
  const place = (id) => h("div", { id });
  const [cards, gpus, running, done, processes] = ["summary", "gpus", "running", "done", "processes"].map(place);
  cards.className = "cards";
  const section = (id, text, ...content) => h("section", { "aria-labelledby": id }, h("h2", { id }, text), content);
  let now = null, book = null;
  const charts = new Charts(CHARTS, (key) => gpuTracks(past, now?.gpus ?? [], key));
  main.append(cards, section("h-gpus", "GPUs", gpus), section("h-time", "The last 15 minutes", charts.element), section("h-runs", "Runs of rubato", running, done), section("h-processes", "Who computes", processes));
  return {
    node(node) {
      now = node;
      document.title = `${f.watts(node.gpus.reduce((sum, gpu) => sum + (gpu.power_w ?? 0), 0))} · ${node.host} · rubato`;
      show(head, h("h1", {}, "Node ", name(node.host)), note([`rubato-exporter ${node.rubato_version}`, `${node.gpus.length} GPU${node.gpus.length === 1 ? "" : "s"}`, `backend ${node.backend}`,
        `driver ${node.driver_version}`, node.clock_rate === 1 ? "" : `a simulated world, ${f.fixed(node.clock_rate, 0)} times as fast as the wall clock`].filter(Boolean).join(" · ")));
      show(cards, summary(node));
      show(gpus, gpuTable(node), sensors(node));
      show(running, goingOn(node));
      show(processes, computing(node));
      const span = past.span();
      if (span) charts.draw(span);
    },
    runs(list) {
      book = list;
      show(done, over(book));
    },
  };
}

