// One series that can be looked at from any distance: the extremes and the sum of any stretch, without going over all of
// its samples, so that a band is always that of every sample in it.

const BLOCK = 64;

export class Track {
  constructor(label, colour, { times, values }, options = {}) {
    this.label = label;
    this.colour = colour;
    this.times = times;
    this.values = values;
    this.dashed = options.dashed ?? false;
    this.shown = true;
    this.levels = null;
    const steps = [];
    const stride = Math.max(1, Math.floor(times.length / 1000));
    for (let i = 1; i < times.length; i += stride) steps.push(times[i] - times[i - 1]);
    steps.sort((a, b) => a - b);
    // Readings further apart are a hole, and no line is drawn over it.
    this.hole = options.hole ?? 10 * (steps[steps.length >> 1] ?? Infinity);
  }

  get length() { return this.times.length; }

  build() {
    const { values } = this;
    const n = Math.floor(values.length / BLOCK);
    const low = new Float32Array(n), high = new Float32Array(n), sum = new Float64Array(n);
    for (let b = 0; b < n; ++b) {
      let l = Infinity, u = -Infinity, s = 0;
      for (let i = b * BLOCK, end = i + BLOCK; i < end; ++i) {
        const v = values[i];
        if (v < l) l = v;
        if (v > u) u = v;
        s += v;
      }
      low[b] = l; high[b] = u; sum[b] = s;
    }
    this.levels = { low, high, sum };
  }

  /// First sample at or after `t`, not before sample `from`; quick where it is about `near` samples further.
  at(t, from = 0, near = this.times.length) {
    const { times } = this;
    let low = from, high = Math.min(times.length, from + near + 1);
    while (high < times.length && times[high - 1] < t) {
      low = high;
      high = Math.min(times.length, high + near + 1);
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
    if (!this.levels) this.build();
    const { values } = this;
    const { low, high, sum } = this.levels;
    let l = Infinity, u = -Infinity, s = 0;
    const first = Math.ceil(begin / BLOCK), last = Math.floor(end / BLOCK);
    const head = first < last ? first * BLOCK : end;
    for (let i = begin; i < head; ++i) {
      const v = values[i];
      if (v < l) l = v;
      if (v > u) u = v;
      s += v;
    }
    if (first < last) {
      for (let b = first; b < last; ++b) {
        if (low[b] < l) l = low[b];
        if (high[b] > u) u = high[b];
        s += sum[b];
      }
      for (let i = last * BLOCK; i < end; ++i) {
        const v = values[i];
        if (v < l) l = v;
        if (v > u) u = v;
        s += v;
      }
    }
    out.low = l; out.high = u; out.sum = s; out.count = end - begin;
    return out;
  }

  /// Of the samples from one moment to another, or null where there is none.
  summary(from, to) {
    const begin = this.at(from);
    const end = this.at(to, begin);
    if (begin === end) return null;
    const s = this.stretch(begin, end, {});
    return { samples: s.count, mean: s.sum / s.count, low: s.low, high: s.high };
  }
}

/// Single samples where there are few, with one neighbour on each side of the view.
function single(tracks, from, to) {
  const parts = tracks.map((t) => [Math.max(0, t.at(from) - 1), Math.min(t.length, t.at(to) + 1)]);
  const moments = new Set();
  tracks.forEach((t, k) => {
    for (let i = parts[k][0]; i < parts[k][1]; ++i) {
      moments.add(t.times[i]);
      // A hole gets a moment of its own, at which nothing is known.
      if (i > parts[k][0] && t.times[i] - t.times[i - 1] > t.hole) moments.add((t.times[i] + t.times[i - 1]) / 2);
    }
  });
  const x = Float64Array.from(moments).sort();
  const means = tracks.map((t, k) => {
    const mean = new Array(x.length).fill(undefined);
    for (let j = 0, i = parts[k][0]; j < x.length && i < parts[k][1]; ++j) {
      if (x[j] === t.times[i]) mean[j] = t.values[i++];
      else if (i > parts[k][0] && t.times[i] - t.times[i - 1] > t.hole) mean[j] = null;
    }
    return mean;
  });
  return { x, means, lows: [], highs: [], single: true };
}

/// What a chart draws of `tracks` from one moment to another on `columns` columns: for each track mean, lowest and highest
/// per column, or the samples themselves where there are at most `most`. A mean that is undefined lies between two samples, null is a
/// hole; extremes are NaN there.
export function drawn(tracks, from, to, columns, most = 2 * columns) {
  if (tracks.reduce((sum, t) => sum + t.at(to) - t.at(from), 0) <= most) return single(tracks, from, to);
  const width = (to - from) / columns;
  // Columns lie on a grid that does not move, or bands would flicker while the view does.
  const first = Math.floor(from / width), n = Math.ceil(to / width) - first;
  const x = new Float64Array(n);
  for (let k = 0; k < n; ++k) x[k] = (first + k + 0.5) * width;
  const means = [], lows = [], highs = [];
  const s = {};
  for (const t of tracks) {
    const mean = new Array(n), low = new Float32Array(n).fill(NaN), high = new Float32Array(n).fill(NaN);
    let begin = t.at(first * width);
    let near = t.length;
    for (let k = 0; k < n; ++k) {
      const end = t.at((first + k + 1) * width, begin, near);
      if (end > begin) {
        t.stretch(begin, end, s);
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
  return { x, means, lows, highs, single: false };
}
