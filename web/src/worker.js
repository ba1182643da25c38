// Unpacks series beside the page, so that it can be read and moved meanwhile.
import { levelsOf } from "./levels.js";
import { unpack } from "./unpack.js";

onmessage = async ({ data: { series, text } }) => {
  try {
    const read = await unpack(series, text);
    const buffers = new Set();
    for (const column of Object.values(read)) {
      column.levels = levelsOf(column.values);
      for (const array of [column.times, column.values, ...column.levels.flatMap(Object.values)]) buffers.add(array.buffer);
    }
    postMessage({ id: series.id, read }, [...buffers]);
  } catch (error) {
    postMessage({ id: series.id, failed: error.message });
  }
};
