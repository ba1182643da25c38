// What the node says, in the words that `rubato top` has for it.
import { h, name, svg } from "../src/dom.js";
import * as f from "../src/format.js";

const LIMITERS = { power_cap: "power limit", thermal: "heat", hardware: "hardware", user_clocks: "locked clock", other: "other", idle: "idle" };
const SETTINGS = { as_found: "as found", held: "held by rubato", unrestored: "NOT RESTORED: rubato restore" };
const MIB = 1024 * 1024;

export const limitedBy = (limiter) => (limiter === null ? null : limiter.map((l) => LIMITERS[l] ?? l).join(", ") || "nothing");
export const settingState = (gpu) => SETTINGS[gpu.setting] ?? null;
export const whole = (value, unit) => (typeof value === "number" ? `${f.fixed(value, 0)} ${unit}` : null);
export const limit = (value) => (typeof value === "number" ? `${f.fixed(value, Number.isInteger(value) ? 0 : 1)} W` : null);
export const share = (value) => (typeof value === "number" ? `${f.fixed(100 * value, 0)} %` : null);
export const mebibytes = (bytes) => (typeof bytes === "number" ? `${f.count(bytes / MIB)} MiB` : null);

/// Ranges of a run's state are pairs.
const range = (pair) => (pair ? { min: pair[0], max: pair[1] } : null);
export const stateSetting = (s) => f.setting({ power_limit_w: s.power_limit_w, sm_clock_mhz: range(s.sm_clock_mhz), memory_clock_mhz: range(s.memory_clock_mhz) });

export function doing(run) {
  const setting = stateSetting(run.setting);
  const at = setting === "as found" ? "the found setting" : setting;
  return { warmup: "warming up", baseline: "measuring the found setting", trial: `trying ${at}`, hold: `holding ${at}`,
    control: "checking the found setting", measure_only: "measuring only" }[run.doing] ?? "starting";
}

/// The strategy's sentence, without what doing() says already.
export const why = (run) => (run.why.startsWith(`${doing(run)}: `) ? run.why.slice(doing(run).length + 2) : run.why);

/// "12.3 % ± 1.1" of a run's state.
export const plusMinus = (s) => (s ? `${f.percent(s.fraction).replace(/^−(0\.0 )/, "$1")} ± ${f.fixed(100 * s.half_width, 1)}` : null);

// The tools quote what a shell would take apart.
const commandLine = (words) => words.map((w) => (/^[\w@%+=:,./-]+$/.test(w) ? w : `'${w.replaceAll("'", "'\\''")}'`)).join(" ");
export const command = (words) => (words.length === 0 ? null : h("span", { class: "command" }, name(commandLine(words))));
export const runLink = (id) => h("a", { href: `/runs/${encodeURIComponent(id)}` }, h("bdi", {}, id));

/// Positions of a run's GPUs on this node, as far as is known: "0, 2".
export const gpusOf = (run, gpus) =>
  gpus.filter((gpu) => run.gpus.some((g) => g.uuid === gpu.uuid && g.used_by_job !== false)).map((gpu) => gpu.index).join(", ") || null;

export const runOf = (gpu, runs) => runs.find((run) => run.gpus.some((g) => g.uuid === gpu.uuid && g.used_by_job !== false));

/// How much of its highest limit a board draws, and where the limit in force stands. The figures stand beside it.
export function bar(gpu) {
  const most = gpu.power_limit_max_w ?? gpu.power_limit_enforced_w;
  if (gpu.power_w === null || !most) return null;
  const at = (watts) => Math.min(100, (100 * watts) / most).toFixed(1);
  return svg("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", x: 0, y: 2, width: 100, height: 4 }), svg("rect", { class: "fill", x: 0, y: 2, width: at(gpu.power_w), height: 4 }),
    gpu.power_limit_enforced_w === null ? null : svg("rect", { class: "tick", x: Math.max(0, at(gpu.power_limit_enforced_w) - 1), y: 0, width: 2, height: 8 }));
}

export const card = (head, value, below) => (value ? h("div", { class: "card", "data-key": head }, h("span", { class: "head" }, head), h("strong", {}, value),
  below ? h("span", { class: "below" }, below) : null) : null);
