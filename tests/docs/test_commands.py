"""Every command of every page is run, in the order of the page, or says in the page's source why it is not."""

import concurrent.futures
import pathlib
import re
import shutil
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import harness  # noqa: E402
import pages  # noqa: E402
import sandbox  # noqa: E402

# Run where they are installed.
MAY_BE_MISSING = {"jq"}
AT_ONCE = 4


def pattern_of(shown):
    """A line of output as a page shows it: a word with a figure stands for any other, … for anything."""
    words = []
    for word in shown.split():
        if "…" in word:
            words.append(r".*".join(re.escape(part) for part in word.split("…")))
        else:
            words.append(r"\S+" if re.search(r"\d", word) else re.escape(word))
    return re.compile(r"\s*" + r"\s+".join(words) + r"\s*$")


def missing_lines(shown, said):
    """Lines that the page shows and the command did not say, in this order."""
    rest, missing = iter(said), []
    for line in shown:
        if line.strip() in ("", "…"):
            continue
        expected, looked = pattern_of(line), []
        for other in rest:
            if expected.match(other):
                break
            looked.append(other)
        else:
            missing.append(line)
            rest = iter(looked)
    return missing


def needs(command):
    return [p for p in MAY_BE_MISSING if re.search(rf"(^|\| *){p}\b", command) and not shutil.which(p)]


class PageRun:
    """What came of one page: (command, seconds, what is wrong with it)."""

    def __init__(self, page, record):
        self.page, self.record, self.ran, self.only_checked, self.wrong = page, record, [], [], []

    def run(self, slower=1):
        box = sandbox.Sandbox(self.record, rate=max(1.0, self.page.pace / slower), profiles=self.page.gpus)
        try:
            for block in self.page.blocks:
                if block.name():
                    box.write(block.name(), block.lines)
                for command in block.commands():
                    self._one(box, command, slower)
        finally:
            box.close()
        return self

    def _one(self, box, command, slower):
        if command.not_run or needs(command.text) or not all(box.provide(*need) for need in command.needs):
            self.only_checked.append(command)
            return
        where = f"{self.page.name}:{command.line}: {command.text}"
        if sandbox.refused(command.text):
            self.wrong.append(f"{where}\n  {sandbox.refused(command.text)}: say '<!-- not run: WHY -->' before the block")
            return
        begin = time.monotonic()
        # In a slower world everything takes as much longer on the wall, beside what the machine's load costs.
        done = box.run(command.text, patience=harness.PATIENCE * slower, until_output=command.goes_on)
        self.ran.append((time.monotonic() - begin, command))
        if done.returncode not in ((0, -2, 130) if command.goes_on else (command.status,)):
            self.wrong.append(f"{where}\n  as run: {done.args}\n  status {done.returncode}, not {command.status}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        elif command.output:
            for line in missing_lines(command.output, (done.stdout + done.stderr).splitlines()):
                self.wrong.append(f"{where}\n  the page shows '{line.strip()}', it says\n{done.stdout[-3000:]}{done.stderr[-2000:]}")


class Commands(unittest.TestCase):
    def test_every_command_does_what_its_page_says(self):
        asked = sys.argv[1:] if __name__ == "__main__" else []
        of = [p for p in pages.all_pages() if p.commands() and not p.tested_by and (not asked or p.name in asked)]
        with tempfile.TemporaryDirectory(prefix="rubato-docs-") as folder:
            record = sandbox.recorded_run(pathlib.Path(folder) / "state")
            with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                done = list(pool.map(lambda page: PageRun(page, record).run(), of))
            # A neighbour's load is as much longer in a simulated world as that is faster: what failed gets a slower one.
            for at, run in enumerate(done):
                if run.wrong:
                    print("again, slower, because of\n" + "\n".join(run.wrong), file=sys.stderr)
                    done[at] = PageRun(run.page, record).run(slower=4)
        ran = [entry for page in done for entry in page.ran]
        print(f"{len(ran)} commands of {len(of)} pages ran, {sum(len(p.only_checked) for p in done)} were only checked", file=sys.stderr)
        for seconds, command in sorted(ran, key=lambda e: -e[0])[:8]:
            print(f"{seconds:6.1f} s  {command.text}", file=sys.stderr)
        wrong = [text for page in done for text in page.wrong]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))


class Safety(unittest.TestCase):
    def test_what_could_touch_the_machine_is_refused(self):
        for line in ("install -m755 a /usr/bin/", "sudo systemctl start rubatod", "rubato runs > /etc/x", "rubato run -- rm -r x", "cat /etc/passwd",
                     "rubato runs; rm x", "python3 -m venv x", "echo 1 | sudo tee x", "rubato runs > ~/x", "mkdir ../x", "tools/make-portable"):
            self.assertNotEqual(sandbox.refused(line), "", line)
        for line in ("sudo rubato restore", "rubato run --gpu 0 -- python3 train.py &", "A=1 rubato export | jq .run", "rubato runs > a.json",
                     "mkdir -p ~/.local/x", "rubato sweep -- rubato sim train resnet50 --iterations 9"):
            self.assertEqual(sandbox.refused(line), "", line)


class Shapes(unittest.TestCase):
    """How shown output is compared."""

    def test_figures_may_differ_and_words_may_not(self):
        self.assertEqual(missing_lines(["found  200 W"], ["  found   250 W"]), [])
        self.assertEqual(missing_lines(["found  200 W"], ["lost 200 W"]), ["found  200 W"])
        self.assertEqual(missing_lines(["found  200 W"], ["found 200 W (read)"]), ["found  200 W"])
        self.assertEqual(missing_lines(["found  200 W …"], ["found 200 W (read)"]), [])

    def test_the_order_counts(self):
        self.assertEqual(missing_lines(["a", "…", "c"], ["a", "b", "c"]), [])
        self.assertEqual(missing_lines(["c", "a"], ["a", "b", "c"]), ["a"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
