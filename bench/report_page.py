#!/usr/bin/env python3
"""A page of a long run in a headless browser: how large it is, when it shows something, how it moves.

    bench/report_page.py [--build build/release] [--hours 24] [--gpus 8] [--rate 10] [--page FILE]

Makes a record with rubato-long-run-record and a page of it with `rubato export`, unless --page names one that is there.
Needs what tools/unpack-test-browser fetches. Times are of this machine and its load, so nothing is judged here;
processor times are those of the page's thread alone, and tell what a machine without a load would take.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "web"))
import browser  # noqa: E402

WIDTH, HEIGHT = 1280, 900
FRAMES = 90

# When the first chart is there, and when nothing is packed any more: milliseconds since the page was asked for.
WATCH = """
window.seen = {};
new MutationObserver(() => {
  const chart = document.querySelector('.plot canvas');
  if (chart && !seen.chart) { seen.chart = 0; requestAnimationFrame(() => requestAnimationFrame(() => { seen.chart = performance.now(); })); }
  if (document.documentElement.dataset.ready && !seen.all) seen.all = performance.now();
}).observe(document, { childList: true, subtree: true, attributes: true });
"""

# A key in each frame: how long frames took, and how much of that the page's own work.
MOVE = """
async ([keys, frames]) => {
  const chart = document.querySelector('.chart');
  const next = () => new Promise((go) => requestAnimationFrame(go));
  const between = [], work = [];
  let last = await next();
  for (let i = 0; i < frames; ++i) {
    chart.dispatchEvent(new KeyboardEvent('keydown', { key: keys[i % keys.length], bubbles: true }));
    // Ours is called behind the page's in the same frame.
    const begun = new Promise((go) => requestAnimationFrame((at) => go([at, performance.now()])));
    const [at, now] = await begun;
    between.push(at - last);
    work.push(now - at);
    last = at;
  }
  return [between, work];
}
"""


def thread_seconds(session):
    """Processor time of the page's own thread so far, drawing commands included, whatever else the machine does."""
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"]


def told(name, values):
    ordered = sorted(values)
    at = lambda share: ordered[min(len(ordered) - 1, int(share * len(ordered)))]
    print(f"{name:26} median {statistics.median(ordered):6.1f} ms, 95 % under {at(0.95):6.1f} ms, longest {ordered[-1]:6.1f} ms")


def make(options, folder):
    program = pathlib.Path(options.build) / "bin"
    made = subprocess.run([program / "rubato-long-run-record", folder, str(options.hours), str(options.gpus), str(options.rate)],
                          check=True, capture_output=True, text=True)
    page = folder / "report.html"
    begun = time.monotonic()
    subprocess.run([program / "rubato", "export", made.stdout.strip(), "--format", "html", "-o", page], check=True)
    print(f"{'record':26} {pathlib.Path(made.stdout.strip()).stat().st_size / 1e6:.1f} MB, {options.hours} h of {options.gpus} GPUs at {options.rate} Hz")
    print(f"{'rubato export':26} {time.monotonic() - begun:.1f} s")
    return page


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "release")
    parser.add_argument("--hours", type=float, default=24)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    why = browser.missing()
    if why:
        sys.exit(why)
    with tempfile.TemporaryDirectory(prefix="rubato-report-") as folder, browser.browser() as started:
        file = options.page.resolve() if options.page else make(options, pathlib.Path(folder))
        print(f"{'page':26} {file.stat().st_size / 1e6:.2f} MB")
        print(f"{'load, processors':26} {os.getloadavg()[0]:.1f}, {os.cpu_count()}")
        page = started.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.add_init_script(WATCH)
        page.goto(file.as_uri(), wait_until="commit")
        page.wait_for_selector("html[data-ready]", state="attached", timeout=300_000)
        page.wait_for_function("seen.chart && seen.all", timeout=300_000)
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null")
        if paint is not None:
            print(f"{'first picture (text)':26} {paint / 1e3:.2f} s")
        print(f"{'first chart':26} {page.evaluate('seen.chart') / 1e3:.2f} s")
        print(f"{'all samples':26} {page.evaluate('seen.all') / 1e3:.2f} s")
        print(f"{'  its processor time':26} {thread_seconds(session):.2f} s")
        page.evaluate("document.querySelector('.chart').scrollIntoView()")
        for name, keys in (("zoom in and out", ["ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"]), ("pan, a quarter in view", ["ArrowRight", "ArrowLeft"]),
                           ("pan, single samples", ["ArrowRight"])):
            page.evaluate("([n]) => { const c = document.querySelector('.chart'); const k = (key) => c.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));"
                          "k('Home'); for (let i = 0; i < n; ++i) k('ArrowUp'); }", [{"z": 0, "p": 2}[name[0]] if "single" not in name else 11])
            page.wait_for_timeout(500)
            before = thread_seconds(session)
            between, work = page.evaluate(MOVE, [keys, FRAMES])
            each = (thread_seconds(session) - before) / FRAMES
            told(name, between)
            told("  of it the page's work", work)
            print(f"{'  processor time':26} mean {1e3 * each:8.1f} ms a frame")


if __name__ == "__main__":
    main()
