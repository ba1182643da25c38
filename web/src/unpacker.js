// Where series are unpacked: in a worker, else in the page itself.
import { unpack } from "./unpack.js";

/* global RUBATO_WORKER */

/// (series, text) => promise of what unpack() gives, with levels where a worker made them.
export function unpacker() {
  let worker = null;
  const waiting = new Map();
  const give = (id) => {
    const job = waiting.get(id);
    waiting.delete(id);
    return job;
  };
  // A browser may forbid it by its own policy, and says so only later.
  const here = () => {
    worker = null;
    for (const [id, job] of waiting) give(id).done(unpack(job.series, job.text));
  };
  try {
    const source = URL.createObjectURL(new Blob([RUBATO_WORKER], { type: "text/javascript" }));
    worker = new Worker(source);
    worker.onerror = here;
    worker.onmessage = ({ data: { id, read, failed } }) => {
      const job = give(id);
      if (failed === undefined) job?.done(read);
      else job?.fail(new Error(failed));
    };
  } catch {
    here();
  }
  return {
    unpack: (series, text) => (worker ? new Promise((done, fail) => {
      waiting.set(series.id, { series, text, done, fail });
      worker.postMessage({ series, text });
    }) : unpack(series, text)),
    end: () => worker?.terminate(),
  };
}
