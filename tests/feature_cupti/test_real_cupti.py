"""What rubato takes CUPTI for, against the vendor's own headers and libraries, from PyPI.

CUPTI's host interface knows every chip without a GPU: which metrics it has, and what one pass holds.
After a change of the metrics:  RUBATO_WRITE_PAGE=1 ctest -R feature_cupti_real  rewrites docs/counters-cupti.md.
"""

import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
HERE = SOURCE / "tests" / "feature_cupti"
VENDOR = SOURCE / "tests" / "inject"
sys.path.insert(0, str(VENDOR))

import page  # noqa: E402
import wheels  # noqa: E402

CXX, CHIPS = os.environ["RUBATO_CXX"], os.environ["CUPTI_CHIPS"]
# The first with the same structures and the last of 12, of 13 the first and the newest.
HEADERS = ("nvidia-cuda-cupti-cu12==12.8.90", "nvidia-cuda-cupti-cu12==12.9.79",
           "nvidia-cuda-cupti==13.0.85", "nvidia-cuda-cupti==13.5.25")
OLDER, MIDDLE, NEWER = HEADERS[1:]
PAGE = SOURCE / "docs" / "counters-cupti.md"


def setUpModule():
    wheels.lock()


def tearDownModule():
    wheels.unlock()


def library(requirement):
    return str(next(wheels.unpacked(requirement).rglob("libcupti.so.*")))


def asked(requirement, *command, **options):
    """What a program says of a version; the newest do not even list their chips where there is no libcuda."""
    places = [str(pathlib.Path(library(requirement)).parent), os.environ["SILENT_CUDA"]]
    return subprocess.run([*command, library(requirement)], check=True, capture_output=True, text=True, timeout=120,
                          env=dict(os.environ, LD_LIBRARY_PATH=":".join(places)), **options).stdout


@functools.cache
def chips(requirement):
    return page.Chips(asked(requirement, CHIPS))


def passes(requirement, lists):
    """A line for each line: the chip and how many passes its metrics need."""
    return asked(requirement, sys.executable, str(HERE / "passes.py"), input=lists).split("\n")[:-1]


class Headers(unittest.TestCase):
    def test_our_declarations_are_those_of_every_version_we_accept(self):
        for requirement in HEADERS:
            with self.subTest(requirement), tempfile.TemporaryDirectory() as scratch:
                include = next(wheels.unpacked(requirement).rglob("cupti_pmsampling.h")).parent
                built = subprocess.run([CXX, "-std=c++20", "-w", f"-I{SOURCE / 'src'}", f"-I{VENDOR / 'vendor'}",
                                        "-isystem", str(include), "-c", str(HERE / "vendor" / "layout.cpp"),
                                        "-o", f"{scratch}/layout.o"], capture_output=True, text=True)
                self.assertEqual(built.returncode, 0, built.stderr)


@unittest.skipIf(os.environ.get("RUBATO_SANITIZE"), "the vendor's library does not run under a sanitizer")
class EveryChip(unittest.TestCase):
    def test_what_is_counted_exists_and_needs_one_pass(self):
        for requirement, known in ((OLDER, 26), (MIDDLE, 28), (NEWER, 32)):
            with self.subTest(requirement):
                lists = chips(requirement).metrics
                self.assertEqual(len(lists), known)
                self.assertEqual(passes(requirement, "".join("\t".join([chip, *metrics]) + "\n"
                                                             for chip, metrics in lists.items())),
                                 [f"{chip}\t1" for chip in lists])

    def test_other_lists_need_more_passes_or_do_not_exist(self):
        # Else the test above would say nothing.
        share = "avg.pct_of_peak_sustained_elapsed"
        answers = passes(NEWER, f"GA102\tsm__warps_active.{share}\tsm__inst_executed.sum"
                                f"\tsm__pipe_tensor_cycles_active.{share}\n"
                                "GA102\tno__such_metric.sum\n")
        self.assertEqual(answers[0], "GA102\t2")
        self.assertIn("ConfigAddMetrics", answers[1])

    def test_every_chip_gives_the_features_that_matter_most(self):
        for requirement in (OLDER, MIDDLE, NEWER):
            found = chips(requirement)
            # Volta has no PM sampling, and the newest CUPTI knows it no more.
            self.assertLessEqual(set(found.without), {"GV100", "GV11B"})
            for chip, features in found.features.items():
                with self.subTest(f"{requirement} {chip}"):
                    self.assertLessEqual({"sm_active", "instructions_per_cycle"}, features)
                    if not chip.startswith("TU10"):
                        self.assertIn("tensor_active", features)
                    if chip not in ("GA10B", "GB10B", "GB10C", "GB20B", "GB20C"):  # share a processor's memory
                        self.assertIn("dram_active", features)
                    self.assertLessEqual(features, set(page.FEATURES))

    def test_the_page_says_what_the_libraries_say(self):
        made = page.tables(chips(NEWER), chips(OLDER), "CUPTI 13.5", "CUPTI 12.9")
        written = PAGE.read_text()
        if os.environ.get("RUBATO_WRITE_PAGE"):
            PAGE.write_text(page.replaced(written, made))
            written = PAGE.read_text()
        self.assertEqual(written, page.replaced(written, made))


if __name__ == "__main__":
    unittest.main()
