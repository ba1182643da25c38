// What is known of the last minutes, as tracks for the charts. It grows by every event; where the page was away, the
// exporter's own memory fills the hole.
import { Track } from "../src/track.js";

const LENGTH_S = 900;
// Readings further apart are a hole, and no line is drawn over it.
const HOLE_S = 5;
const GPU_COLUMNS = ["power_w", "power_limit_enforced_w", "power_limit_requested_w", "sm_clock_mhz", "memory_clock_mhz", "temperature_c", "sm_utilisation"];
const RUN_COLUMNS = ["iteration_s", "doing"];

class Lane {
  constructor(columns) {
    this.at = [];
    this.columns = Object.fromEntries(columns.map((column) => [column, []]));
  }

  push(at, values) {
    if (this.at.length > 0 && at <= this.at[this.at.length - 1]) return;
    this.at.push(at);
    for (const [column, list] of Object.entries(this.columns)) list.push(values[column] ?? null);
    const old = this.at.findIndex((t) => t > at - LENGTH_S);
    if (old <= 0) return;
    this.at.splice(0, old);
    for (const list of Object.values(this.columns)) list.splice(0, old);
  }

  /// The exporter's lines, and in front of them what this page saw before they begin.
  fill(lines) {
    const first = lines.at_s[0] ?? Infinity;
    const kept = this.at.findIndex((t) => t >= first);
    const n = kept < 0 ? this.at.length : kept;
    this.at = [...this.at.slice(0, n), ...lines.at_s];
    for (const [column, list] of Object.entries(this.columns)) this.columns[column] = [...list.slice(0, n), ...lines[column]];
  }

  /// Of the moments at which it was read.
  part(column, zero) {
    const known = this.columns[column].map((v, i) => i).filter((i) => this.columns[column][i] !== null);
    return { times: Float64Array.from(known, (i) => this.at[i] - zero), values: Float64Array.from(known, (i) => this.columns[column][i]) };
  }
}

export class Past {
  constructor(zero) {
    this.zero = zero;
    this.gpus = new Map();
    this.runs = new Map();
  }

  lane(map, id, columns) {
    if (!map.has(id)) map.set(id, new Lane(columns));
    return map.get(id);
  }

  fill(history) {
    for (const gpu of history.gpus) this.lane(this.gpus, gpu.uuid, GPU_COLUMNS).fill(gpu);
    for (const run of history.runs) this.lane(this.runs, run.run_id, RUN_COLUMNS).fill(run);
  }

  add(node) {
    for (const gpu of node.gpus) this.lane(this.gpus, gpu.uuid, GPU_COLUMNS).push(node.at_s, gpu);
    for (const run of node.runs)
      this.lane(this.runs, run.run_id, RUN_COLUMNS).push(node.at_s, { iteration_s: run.iteration?.period_s, doing: run.doing });
    for (const [id, lane] of this.runs) if (lane.at[lane.at.length - 1] < node.at_s - LENGTH_S) this.runs.delete(id);
  }

  /// [first, last] moment, or null.
  span() {
    const lanes = [...this.gpus.values(), ...this.runs.values()].filter((lane) => lane.at.length > 0);
    if (lanes.length === 0) return null;
    const last = Math.max(...lanes.map((lane) => lane.at[lane.at.length - 1])) - this.zero;
    return [Math.max(last - LENGTH_S, Math.min(...lanes.map((lane) => lane.at[0])) - this.zero), last];
  }

  track(lane, column, label, colour, dashed = false) {
    const track = new Track(label, colour, lane.part(column, this.zero), { dashed, steps: dashed || column.endsWith("_mhz"), hole: HOLE_S });
    track.id = `${label}/${column}`;
    return track;
  }

  ofGpu(uuid, column, label, colour, dashed) {
    const lane = this.gpus.get(uuid);
    return lane ? this.track(lane, column, label, colour, dashed) : null;
  }

  iterations(runId) {
    const lane = this.runs.get(runId);
    return lane ? this.track(lane, "iteration_s", "iterations", 1) : null;
  }

  /// What rubato was doing, for the stripe along the upper edge of a chart.
  blocks(runId) {
    const lane = this.runs.get(runId);
    const out = [];
    lane?.columns.doing.forEach((role, i) => {
      const at = lane.at[i] - this.zero;
      const open = out[out.length - 1];
      if (open?.role === role && at - open.end_s <= HOLE_S) open.end_s = at;
      else if (role && role !== "measure_only") out.push({ role, begin_s: open && at - open.end_s <= HOLE_S ? open.end_s : at, end_s: at });
    });
    return out;
  }
}
