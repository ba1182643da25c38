// One series that can be looked at from any distance: the extremes and the sum of any stretch, without going over all of
// its samples, so that a band is always that of every sample in it.
import { BASE, FACTOR, levelsOf } from "./levels.js";

// Of the samples of a column: while the view moves, its edges may lie this much off.
const OFF = 1 / 8;

class Stretch {
  constructor() { this.read = 0; }
  begin() { this.low = Infinity; this.high = -Infinity; this.sum = 0; this.count = 0; }
  add({ low, high, sum }, from, to) {
    let l = this.low, u = this.high, s = this.sum;
    for (let i = from; i < to; ++i) {
      if (low[i] < l) l = low[i];
      if (high[i] > u) u = high[i];
      s += sum[i];
    }
    this.low = l; this.high = u; this.sum = s;
    this.read += to - from;
  }
}

export class Track {
  constructor(label, colour, { times, values, levels }, options = {}) {
    this.label = label;
    this.colour = colour;
    this.times = times;
    this.values = values;
    this.dashed = options.dashed ?? false;
    this.steps = options.steps ?? false;
    this.shown = true;
    this.levels = levels ?? null;
    // A sample is a stretch of its own.
    this.samples = { low: values, high: values, sum: values };
    const steps = [];
    const stride = Math.max(1, Math.floor(times.length / 1000));
    for (let i = 1; i < times.length; i += stride) steps.push(times[i] - times[i - 1]);
    steps.sort((a, b) => a - b);
    // Readings further apart are a hole, and no line is drawn over it.
    this.hole = options.hole ?? 10 * (steps[steps.length >> 1] ?? Infinity);
  }

  get length() { return this.times.length; }

  /// First sample at or after `t`, not before sample `from`; quick where it is about `near` samples further.
  at(t, from = 0, near = this.times.length) {
    const { times } = this;
    let low = from, high = times.length;
    const guess = Math.min(high - 1, from + near);
    if (guess < from) return high;
    for (let by = 1; ; by *= 2) {
      if (times[guess] < t) {
        low = Math.min(high, guess + by);
        if (low === high || times[low] >= t) { high = low; low = Math.max(guess, guess + by / 2); break; }
      } else {
        const before = guess - by;
        if (before < from || times[before] < t) { low = Math.max(from, before); high = by === 1 ? guess : guess - by / 2; break; }
      }
    }
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /// Extremes and sum of samples [begin, end).
  stretch(begin, end, out) {
    this.levels ??= levelsOf(this.values);
    out.begin();
    out.count = end - begin;
    let part = this.samples, next = BASE, level = 0;
    while (begin < end) {
      const above = this.levels[level++];
      const first = above ? Math.min(end, Math.ceil(begin / next) * next) : end;
      out.add(part, begin, first);
      const last = Math.max(first, Math.floor(end / next) * next);
      out.add(part, last, end);
      if (first >= last) break;
      begin = first / next;
      end = last / next;
      part = above;
      next = FACTOR;
    }
    return out;
  }

  /// The same, with edges that may be off by OFF of what is usual: much quicker.
  about(begin, end, usual, out) {
    this.levels ??= levelsOf(this.values);
    let level = -1, size = BASE;
    while (level + 1 < this.levels.length && size <= OFF * usual) { ++level; size *= FACTOR; }
    if (level < 0) return this.stretch(begin, end, out);
    size /= FACTOR;
    const first = Math.round(begin / size), last = Math.min(Math.round(end / size), this.levels[level].sum.length);
    if (first >= last) return this.stretch(begin, end, out);
    out.begin();
    out.add(this.levels[level], first, last);
    out.count = (last - first) * size;
    return out;
  }

  /// Of the samples from one moment to another, or null where there is none.
  summary(from, to) {
    const begin = this.at(from);
    const end = this.at(to, begin);
    if (begin === end) return null;
    const s = this.stretch(begin, end, new Stretch());
    return { samples: s.count, mean: s.sum / s.count, low: s.low, high: s.high };
  }
}

/// The same series before its samples are there: equally long pieces of it, of which only mean, extremes and count are known.
export class Outline extends Track {
  constructor(label, colour, { times, low, high, mean, count, width }, options = {}) {
    super(label, colour, { times, values: mean, levels: [] }, { ...options, hole: options.hole ?? 1.5 * width });
    this.outline = true;
    this.count = count;
    this.samples = { low, high, sum: mean.map((v, i) => v * count[i]) };
  }

  stretch(begin, end, out) {
    out.begin();
    out.add(this.samples, begin, end);
    for (let i = begin; i < end; ++i) out.count += this.count[i];
    return out;
  }

  about(begin, end, usual, out) { return this.stretch(begin, end, out); }
}

/// Single samples where there are few, with one neighbour on each side of the view.
function single(tracks, from, to) {
  const parts = tracks.map((t) => [Math.max(0, t.at(from) - 1), Math.min(t.length, t.at(to) + 1)]);
  const moments = [];
  tracks.forEach((t, k) => {
    for (let i = parts[k][0]; i < parts[k][1]; ++i) {
      moments.push(t.times[i]);
      // A hole gets a moment of its own, at which nothing is known.
      if (i > parts[k][0] && t.times[i] - t.times[i - 1] > t.hole) moments.push((t.times[i] + t.times[i - 1]) / 2);
    }
  });
  const x = Float64Array.from(moments).sort().filter((v, i, all) => i === 0 || v !== all[i - 1]);
  const means = tracks.map((t, k) => {
    const mean = new Array(x.length).fill(undefined);
    for (let j = 0, i = parts[k][0]; j < x.length && i < parts[k][1]; ++j) {
      if (x[j] === t.times[i]) mean[j] = t.values[i++];
      else if (i > parts[k][0] && t.times[i] - t.times[i - 1] > t.hole) mean[j] = null;
    }
    return mean;
  });
  return { x, means, lows: [], highs: [], single: true, read: parts.reduce((sum, [begin, end]) => sum + end - begin, 0) };
}

/// What a chart draws of `tracks` from one moment to another on `columns` columns: for each track mean, lowest and highest
/// per column, or the samples themselves where there are at most `most`. A mean that is undefined lies between two samples, null is a
/// hole; extremes are NaN there. `moving`: edges of columns need not be exact. `read`: samples and blocks that were looked at for it.
export function drawn(tracks, from, to, columns, most = 2 * columns, moving = false) {
  if (!tracks.some((t) => t.outline) && tracks.reduce((sum, t) => sum + t.at(to) - t.at(from), 0) <= most) return single(tracks, from, to);
  const width = (to - from) / columns;
  // Columns lie on a grid that does not move, or bands would flicker while the view does.
  const first = Math.floor(from / width), n = Math.ceil(to / width) - first;
  const x = new Float64Array(n);
  for (let k = 0; k < n; ++k) x[k] = (first + k + 0.5) * width;
  const means = [], lows = [], highs = [];
  const s = new Stretch();
  for (const t of tracks) {
    const mean = new Array(n), low = new Float32Array(n).fill(NaN), high = new Float32Array(n).fill(NaN);
    const start = t.at(first * width);
    const usual = (t.at((first + n) * width, start) - start) / n;
    let begin = start;
    let near = Math.ceil(usual);
    for (let k = 0; k < n; ++k) {
      const end = t.at((first + k + 1) * width, begin, near);
      if (end > begin) {
        if (moving) t.about(begin, end, usual, s);
        else t.stretch(begin, end, s);
        mean[k] = s.sum / s.count;
        low[k] = s.low;
        high[k] = s.high;
      } else {
        const inside = begin > 0 && begin < t.length && t.times[begin] - t.times[begin - 1] <= t.hole;
        mean[k] = inside ? undefined : null;
      }
      near = end - begin;
      begin = end;
    }
    means.push(mean);
    lows.push(low);
    highs.push(high);
  }
  return { x, means, lows, highs, single: false, read: s.read };
}
