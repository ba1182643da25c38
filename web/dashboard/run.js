// One run: while it goes on, what it does and why, and its last minutes; when it is over, what came of it and the way to its report.
import { h, name, note } from "../src/dom.js";
import * as f from "../src/format.js";
import { Charts } from "./charts.js";
import { grid, number } from "./grid.js";
import { show } from "./morph.js";
import { ended, gpuTracks, restored } from "./node.js";
import { card, command, doing, limit, plusMinus, stateSetting, why } from "./words.js";

const CHARTS = [
  { key: "power_w", title: "Power", unit: "W", digits: 1 }, { key: "iteration_s", title: "Iteration time", unit: "s", digits: 4 },
  { key: "sm_clock_mhz", title: "SM clock", unit: "MHz", digits: 0 }, { key: "temperature_c", title: "Temperature", unit: "°C", digits: 0 },
];

const used = (state, node) => node.gpus.filter((gpu) => state.gpus.some((g) => g.uuid === gpu.uuid && g.used_by_job !== false));
const report = (id, text) => h("p", { "data-key": "report" }, h("a", { class: "button", href: `/runs/${encodeURIComponent(id)}/report` }, text));

function liveCards(state) {
  const it = state.iteration;
  const energies = state.gpus.filter((gpu) => gpu.used_by_job !== false).map((gpu) => gpu.energy_j);
  const energy = energies.length > 0 && energies.every((e) => e !== null) ? energies.reduce((sum, e) => sum + e, 0) : null;
  const kinds = [...new Set(state.gpus.map((gpu) => gpu.kind))].join(", ");
  return [card("energy saved so far", plusMinus(state.saving?.energy) ?? "not known yet", state.saving ? `${state.saving.kind}, with half of its 90 % interval` : "needs four blocks at the found setting"),
    card("longer so far", plusMinus(state.saving?.time) ?? "not known yet", "against the run's own baseline"), card("iteration", f.seconds(it?.period_s) ?? "not known yet", it ? `by ${it.source}, ${f.percent(it.confidence, 0)} sure` : null),
    card("iterations", f.count(state.iterations), "are over"), card("GPU energy", f.joules(energy) ?? "unknown", `${kinds}, since the run began`), card("runs for", f.seconds(state.running_s), state.clock_rate === 1 ? "on the wall clock" : `on a clock ${f.fixed(state.clock_rate, 0)} times as fast`)];
}

function liveGpus(state) {
  const row = (gpu) => [name(gpu.name), gpu.kind, f.watts(gpu.power_w), f.figure(gpu.energy_j, gpu.energy_band_sampling_j, gpu.energy_band_calibration_j), limit(gpu.found_power_limit_w),
    gpu.changed_by_someone_else ? "left to somebody else's change" : stateSetting(gpu.in_force), gpu.used_by_job === null ? "not known" : gpu.used_by_job ? "yes" : "no", name(gpu.uuid)];
  return grid("run-gpu-table", "Its GPUs", ["GPU", "kind", number("power"), number("energy so far"), number("limit found"), "rubato's setting", "used by the job", "UUID"], state.gpus.map(row), state.gpus.map((gpu) => gpu.uuid));
}

function doneCards(run) {
  const w = run.whole_run;
  return [card("ended", ended(run) ?? "unknown"), card("took", f.seconds(run.duration_s) ?? "unknown"), card("GPU energy", f.joules(run.energy_j) ?? "unknown", run.quality),
    card("energy saved", f.estimate(w?.energy_saved) ?? "nothing to compare", w ? `${f.joules(w.energy_saved_j)}, ${w.kind}, search included` : "no baseline was measured"), card("longer", f.estimate(w?.slowdown), "against the run's own baseline"),
    card("put back", restored(run))];
}

function doneGpus(run) {
  const row = (gpu) => [`${gpu.index} `, name(gpu.name), gpu.quality, f.joules(gpu.energy_j), limit(gpu.power_limit_found_w), f.setting(gpu.requested), name(gpu.uuid)];
  return grid("run-gpu-table", "Its GPUs", ["GPU", "name", "kind", number("energy"), number("limit found"), "set to, last", "UUID"], run.gpus.map(row), run.gpus.map((gpu) => gpu.uuid));
}

export function runPage(id, head, main, past) {
  let node = null, book = null, state = null;
  const [body, below] = [h("div", { id: "run" }), h("div", { id: "run-gpus" })];
  const mine = () => (state && node ? used(state, node) : []);
  const charts = new Charts(CHARTS, (key) => (key === "iteration_s" ? [past.iterations(id)] : gpuTracks(past, mine(), key)), () => past.blocks(id));
  const over = h("section", { "aria-labelledby": "h-time" }, h("h2", { id: "h-time" }, "The last 15 minutes"), charts.element);
  over.hidden = true;
  main.append(body, over, below);

  const draw = () => {
    if (!node) return;
    const live = node.runs.find((run) => run.run_id === id);
    if (live) state = live;
    const booked = book?.runs.find((run) => run.run_id === id);
    const known = live ?? booked ?? state;
    document.title = `${live ? `${doing(live)} · ` : ""}run ${id} · rubato`;
    show(head, h("p", { class: "note" }, h("a", { href: "/" }, "Node ", name(node.host))), h("h1", {}, `rubato ${known?.mode ?? "run"} `, name(id)),
      known?.command.length > 0 ? h("p", { class: "command" }, "$ ", command(known.command)) : null, known ? note([`started ${known.started_at}`, live?.strategy ? `strategy ${live.strategy}` : ""].filter(Boolean).join(" · ")) : null);
    over.hidden = !state;
    if (live) {
      const old = live.age_s > 10 ? h("p", { class: "say bad", "data-key": "old" }, `It has said nothing for ${f.seconds(live.age_s)}; what stands here is as old.`) : null;
      show(body, old, h("p", { class: "say bold", "data-key": "doing" }, `It is ${doing(live)}.`), h("p", { "data-key": "why" }, name(why(live))), h("div", { class: "cards", "data-key": "cards" }, liveCards(live)), report(id, "Report so far"));
      show(below, liveGpus(live));
    } else if (booked) {
      show(body, h("p", { class: "say bold", "data-key": "doing" }, booked.running ? "It goes on, and says nothing of itself here: it is another user's, or has just begun." : "This run is over."),
        h("div", { class: "cards", "data-key": "cards" }, doneCards(booked)), report(id, booked.running ? "Report so far" : "Report"));
      show(below, doneGpus(booked));
    } else if (book) {
      show(body, h("p", { class: "say bold", "data-key": "doing" }, "No run of this name is known here."), note("It may be older than the list, or another user's: rubato runs."));
    }
    const span = past.span();
    if (span && state) charts.draw(span);
  };
  return { node(next) { node = next; draw(); }, runs(list) { book = list; draw(); } };
}

