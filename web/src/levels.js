// Extremes and sums of ever longer stretches of a series, made once, so that no picture has to go over all samples.

/// Samples in a block of the first level, and blocks in one of each next level.
export const BASE = 16;
export const FACTOR = 4;

/// [{low, high, sum}], each level a FACTOR shorter than the one before; samples behind the last whole block are in none.
export function levelsOf(values) {
  const levels = [];
  const level = (n) => ({ low: new Float32Array(n), high: new Float32Array(n), sum: new Float64Array(n) });
  const first = level(Math.floor(values.length / BASE));
  for (let b = 0, i = 0; b < first.sum.length; ++b) {
    let l = Infinity, u = -Infinity, s = 0;
    for (const end = i + BASE; i < end; ++i) {
      const v = values[i];
      if (v < l) l = v;
      if (v > u) u = v;
      s += v;
    }
    first.low[b] = l; first.high[b] = u; first.sum[b] = s;
  }
  for (let below = first; below.sum.length > 0; ) {
    levels.push(below);
    const next = level(Math.floor(below.sum.length / FACTOR));
    for (let b = 0, i = 0; b < next.sum.length; ++b) {
      let l = Infinity, u = -Infinity, s = 0;
      for (const end = i + FACTOR; i < end; ++i) {
        if (below.low[i] < l) l = below.low[i];
        if (below.high[i] > u) u = below.high[i];
        s += below.sum[i];
      }
      next.low[b] = l; next.high[b] = u; next.sum[b] = s;
    }
    below = next;
  }
  return levels;
}
