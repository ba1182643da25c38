// Series as rubato packs them (docs/formats.md, packed series): base64 of a zlib stream; inside, for each column a bitmap
// of presence where values are missing, then the bytes of its zigzag differences less the usual one, plane by plane.

function bytesOf(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/// Whole numbers times the column's quantum, as many as are present.
function values(bytes, at, column) {
  const n = column.present;
  const zigzag = column.bytes <= 4 ? new Uint32Array(n) : new Float64Array(n);
  for (let plane = 0; plane < column.bytes; ++plane) {
    const scale = 2 ** (8 * plane);
    const base = at + plane * n;
    if (plane === 0) for (let i = 0; i < n; ++i) zigzag[i] = bytes[base + i];
    else for (let i = 0; i < n; ++i) zigzag[i] += bytes[base + i] * scale;
  }
  const out = column.name === "time_s" ? new Float64Array(n) : new Float32Array(n);
  let value = column.first;
  for (let i = 0; i < n; ++i) {
    const z = zigzag[i];
    if (i > 0) value += column.step + (z % 2 === 0 ? z / 2 : -(z + 1) / 2);
    out[i] = value * column.quantum;
  }
  return out;
}

/// {name: {times, values}}: of each column only the moments at which it was read. Fails where `text` is not all of it.
export const unpack = async (series, text) => taken(series, await inflate(bytesOf(text)));

/// The same, at once, of a series that is not deflated.
export const unpackPlain = (series, text) => taken(series, bytesOf(text));

function taken(series, bytes) {
  const read = {};
  let at = 0;
  let times = null;
  for (const column of series.columns) {
    let bitmap = null;
    if (column.present < series.count) {
      bitmap = bytes.subarray(at, at + Math.ceil(series.count / 8));
      at += bitmap.length;
    }
    const own = values(bytes, at, column);
    at += column.bytes * column.present;
    if (column.name === "time_s") {
      times = own;
      continue;
    }
    let when = times;
    if (bitmap) {
      when = new Float64Array(column.present);
      for (let i = 0, k = 0; i < series.count; ++i) if (bitmap[i >> 3] & (1 << (i & 7))) when[k++] = times[i];
    }
    read[column.name] = { times: when, values: own };
  }
  if (at !== bytes.length) throw new Error(`series ${series.id} holds ${bytes.length} bytes, not ${at}`);
  return read;
}
