// From packed series in the page to tracks in a timeline: first the outline of all of them, then each with its samples.
import { Outline, Track } from "./track.js";
import { unpackPlain } from "./unpack.js";
import { unpacker } from "./unpacker.js";

const QUANTITIES = {
  power_w: { order: 1, title: "Power", unit: "W", digits: 1 },
  meter_power_w: { order: 2, title: "Meters", unit: "W", digits: 1 },
  duration_s: { order: 3, title: "Iteration time", unit: "s", digits: 4 },
  sm_clock_mhz: { order: 4, title: "SM clock", unit: "MHz", digits: 0, steps: true },
  memory_clock_mhz: { order: 5, title: "Memory clock", unit: "MHz", digits: 0, steps: true },
  temperature_c: { order: 6, title: "Temperature", unit: "°C", digits: 0 },
  sm_utilisation_fraction: { order: 7, title: "SM utilisation (fraction of time)", unit: "", digits: 2 },
};
// Limits stand in the chart of what they limit.
const LIMITS = { enforced_limit_w: "limit enforced", requested_limit_w: "limit requested" };
// Packed texts that wait for a worker at once.
const AHEAD = 2;

const pause = (ms = 0) => new Promise((resolve) => setTimeout(resolve, ms));

/// The element of packed samples, once the browser has read all of it: most stand behind the script in the file.
async function arrived(id) {
  for (;;) {
    const complete = document.readyState !== "loading";
    const place = document.getElementById(`series-${id}`);
    if (place && (complete || place.nextSibling)) return place;
    if (complete) throw new Error("they are not in the file");
    await pause(5);
  }
}

const same = (a, b) => a.length === b.length && a.every((v, i) => v === b[i]);

/// `parts`: of each column what make() makes a track of.
function add(timeline, series, parts, colour, make) {
  const { owner, label = owner } = series;
  for (const [column, part] of Object.entries(parts)) {
    const limit = LIMITS[column];
    // Where both limits are always the same, one line is enough.
    const other = column === "requested_limit_w" ? parts.enforced_limit_w : null;
    if (other && same(part.low ?? part.values, other.low ?? other.values) && same(part.high ?? [], other.high ?? [])) continue;
    const key = limit ? "power_w" : column === "power_w" && series.meter ? "meter_power_w" : column;
    const quantity = QUANTITIES[key];
    if (!quantity) continue;
    const options = { dashed: limit !== undefined, steps: limit !== undefined || quantity.steps, hole: column === "duration_s" ? Infinity : undefined };
    const track = make(limit ? `${label}, ${limit}` : label, colour, part, options);
    track.id = `${series.id}/${column}`;
    // Of a job, not of a GPU or meter that could be left out.
    if (column !== "duration_s") track.owner = owner;
    timeline.put(key, quantity, track);
  }
}

/// Columns of the outline are named ID.COLUMN.WHAT; those of one series, as {column: {times, low, high, mean, count}}.
function outlinesOf(outline, read, id) {
  const parts = {};
  for (const [name, { times, values }] of Object.entries(read)) {
    const [of, column, what] = name.split(".");
    if (Number(of) !== id) continue;
    parts[column] ??= { times, width: outline.width_s };
    parts[column][what] = values;
  }
  return parts;
}

function draft(timeline, outline, all, colours) {
  // Before the script in the file, so it is there.
  const place = document.getElementById(`series-${outline.id}`);
  const read = unpackPlain(outline, place.textContent);
  place.remove();
  for (const series of all)
    add(timeline, series, outlinesOf(outline, read, series.id), colours.get(series.owner), (...of) => new Outline(...of));
  timeline.drawNow();
  timeline.tell();
}

/// `outline`: head of the packed outline, or undefined. The first picture is drawn from it, while the rest is still being read.
export async function fill(timeline, all, outline) {
  if (all.length === 0) {
    timeline.done("No samples are in this record.");
    return;
  }
  if (typeof DecompressionStream === "undefined") {
    timeline.done("This browser cannot unpack the samples (it has no DecompressionStream), so the charts are empty; all figures of this page are there. Any browser since 2023 can.");
    return;
  }
  const colours = new Map();
  for (const { owner } of all) if (!colours.has(owner)) colours.set(owner, colours.size);
  let failed = "";
  const say = (series) => (error) => {
    failed = `The samples of ${series.owner} cannot be unpacked: ${error.message}. Was the file cut short? Export it again.`;
  };
  try {
    if (outline) draft(timeline, outline, all, colours);
  } catch (error) {
    say({ owner: "the whole run" })(error);
  }
  const { unpack: start, end } = unpacker();
  const jobs = [];
  for (const series of all) {
    try {
      const place = await arrived(series.id);
      const text = place.textContent;
      place.remove();
      jobs.push(start(series, text).then((read) => add(timeline, series, read, colours.get(series.owner), (...of) => new Track(...of)), say(series)));
      if (jobs.length >= AHEAD) await jobs[jobs.length - AHEAD];
    } catch (error) {
      say(series)(error);
    }
    await pause();
  }
  await Promise.all(jobs);
  end();
  timeline.done(failed);
  document.documentElement.dataset.ready = "1";
}
