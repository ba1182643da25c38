// From packed series in the page to tracks in a timeline.
import { Track } from "./track.js";
import { unpack } from "./unpack.js";

const QUANTITIES = {
  power_w: { order: 1, title: "Power", unit: "W", digits: 1 },
  meter_power_w: { order: 2, title: "Meters", unit: "W", digits: 1 },
  duration_s: { order: 3, title: "Iteration time", unit: "s", digits: 4 },
  sm_clock_mhz: { order: 4, title: "SM clock", unit: "MHz", digits: 0 },
  memory_clock_mhz: { order: 5, title: "Memory clock", unit: "MHz", digits: 0 },
  temperature_c: { order: 6, title: "Temperature", unit: "°C", digits: 0 },
  sm_utilisation_fraction: { order: 7, title: "SM utilisation (fraction of time)", unit: "", digits: 2 },
};
// Limits stand in the chart of what they limit.
const LIMITS = { enforced_limit_w: "limit enforced", requested_limit_w: "limit requested" };

const pause = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

/// The element of packed samples, once the browser has read all of it: they stand behind the script in the file.
async function arrived(id) {
  for (;;) {
    const complete = document.readyState !== "loading";
    const place = document.getElementById(`series-${id}`);
    if (place && (complete || place.nextSibling)) return place;
    if (complete) throw new Error("they are not in the file");
    await pause(5);
  }
}

function add(timeline, series, read, colour) {
  const { owner, label = owner } = series;
  for (const [column, part] of Object.entries(read)) {
    const limit = LIMITS[column];
    // Where both limits are always the same, one line is enough.
    if (column === "requested_limit_w" && read.enforced_limit_w &&
        part.values.every((v, i) => v === read.enforced_limit_w.values[i])) continue;
    const options = { dashed: limit !== undefined, hole: column === "duration_s" ? Infinity : undefined };
    const track = new Track(limit ? `${label}, ${limit}` : label, colour, part, options);
    // Of a job, not of a GPU or meter that could be left out.
    if (column !== "duration_s") track.owner = owner;
    const key = limit ? "power_w" : column === "power_w" && series.meter ? "meter_power_w" : column;
    if (QUANTITIES[key]) timeline.add(key, QUANTITIES[key], [track]);
  }
}

/// Unpacks one series after the other, so that the first ones are to be seen while the rest is still packed.
export async function fill(timeline, all) {
  if (all.length === 0) {
    timeline.done("No samples are in this record.");
    return;
  }
  if (typeof DecompressionStream === "undefined") {
    timeline.done("This browser cannot unpack the samples (it has no DecompressionStream), so the charts are empty; all figures of this page are there. Any browser since 2023 can.");
    return;
  }
  const colours = new Map();
  let failed = "";
  for (const series of all) {
    if (!colours.has(series.owner)) colours.set(series.owner, colours.size);
    try {
      const place = await arrived(series.id);
      add(timeline, series, await unpack(series, place.textContent), colours.get(series.owner));
      place.remove();
    } catch (error) {
      failed = `The samples of ${series.owner} cannot be unpacked: ${error.message}. Was the file cut short? Export it again.`;
    }
    await pause();
  }
  timeline.done(failed);
  document.documentElement.dataset.ready = "1";
}
