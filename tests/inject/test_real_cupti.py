"""The vendor's own headers and libraries of several CUDA generations, from PyPI, against ours.

Without a GPU a real CUPTI refuses everything; what is tested is that our library then steps back and the
program runs on.
"""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

import wheels
from wheels import unpacked

SOURCE = pathlib.Path(os.environ["RUBATO_SOURCE_DIR"])
CC, LIBRARY, PROGRAM = (os.environ[name] for name in ("RUBATO_CC", "INJECT_LIBRARY", "INJECT_PROGRAM"))
# 11.7 and 11.8, the first and the last known of 12, of 13 the first and the newest.
WHEELS = ("nvidia-cuda-cupti-cu11==11.7.101", "nvidia-cuda-cupti-cu11==11.8.87",
          "nvidia-cuda-cupti-cu12==12.4.127", "nvidia-cuda-cupti-cu12==12.9.79",
          "nvidia-cuda-cupti==13.0.85", "nvidia-cuda-cupti==13.5.25")
NVTX = "nvidia-nvtx-cu12==12.9.79"
PROBLEM, NAME = 15, 9


def setUpModule():
    wheels.lock()


def tearDownModule():
    wheels.unlock()


def problems(folder):
    """The sentences of the PROBLEM marks in a folder of rings (include/rubato/mark_layout.h)."""
    names, said = {}, []
    for ring in pathlib.Path(folder).glob("*.ring"):
        data = ring.read_bytes()
        written, = struct.unpack_from("<Q", data, 64)
        for n in range(written):
            _, _, kind, _, id_, text = struct.unpack_from("<QqIIQ32s", data, 128 + 64 * n)
            if kind == NAME:
                names[id_] = names.get(id_, b"") + text.rstrip(b"\0")
            elif kind == PROBLEM:
                said.append(id_)
    return [names[id_].decode() for id_ in said]


class RealCupti(unittest.TestCase):
    def test_our_declarations_are_those_of_every_header(self):
        for requirement in WHEELS:
            with self.subTest(requirement):
                header = next(unpacked(requirement).rglob("cupti_activity.h"))
                text = header.read_text(errors="replace")
                newest = {}
                for record in ("Kernel", "GraphTrace"):
                    found = re.findall(rf"\}} (CUpti_Activity{record}(\d*));", text)
                    newest[record] = max(found, key=lambda f: int(f[1] or 1))[0]
                here = SOURCE / "tests" / "inject" / "vendor"
                with tempfile.TemporaryDirectory() as scratch:
                    built = subprocess.run(
                        [CC, "-std=gnu11", "-w", f"-I{SOURCE / 'inject'}", f"-I{here}", "-isystem",
                         str(header.parent), f"-DVENDOR_KERNEL={newest['Kernel']}",
                         f"-DVENDOR_GRAPH={newest['GraphTrace']}", str(here / "layout.c"),
                         "-o", f"{scratch}/layout"],
                        capture_output=True, text=True)
                    self.assertEqual(built.returncode, 0, built.stderr)

    @unittest.skipIf(os.environ.get("RUBATO_SANITIZE"), "the vendor's library does not run under a sanitizer")
    def test_without_a_gpu_the_library_steps_back_and_says_why(self):
        for requirement in WHEELS:
            with self.subTest(requirement), tempfile.TemporaryDirectory() as folder:
                library = next(p for p in unpacked(requirement).rglob("libcupti.so.*"))
                environment = dict(os.environ, RUBATO_MARKS=folder, RUBATO_KERNELS="20ms/1s",
                                   CUDA_INJECTION64_PATH=LIBRARY,
                                   LD_LIBRARY_PATH=str(library.parent))
                done = subprocess.run([PROGRAM, "nothing"], env=environment,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(done.stdout, "still here\n")
                said = problems(folder)
                if pathlib.Path("/dev/nvidiactl").exists():
                    continue
                self.assertEqual(len(said), 1, said)
                self.assertRegex(said[0], r"kernels are not recorded: .*error \d+")
                self.assertNotIn("no libcupti was found", said[0])

    @unittest.skipIf(os.environ.get("RUBATO_SANITIZE"), "the vendor's library does not run under a sanitizer")
    def test_the_cupti_beside_the_programs_runtime_is_taken_and_no_other_generation(self):
        twelve = next(unpacked("nvidia-cuda-cupti-cu12==12.9.79").rglob("libcupti.so.12"))
        layouts = (("nvidia/cuda_runtime/lib/libcudart.so.12", "nvidia/cuda_cupti/lib", True),
                   ("cuda/lib64/libcudart.so.12.9.79", "cuda/extras/CUPTI/lib64", True),
                   ("torch/lib/libcudart-1a2b3c.so.12", "nvidia/cuda_cupti/lib", True),
                   ("nvidia/cu13/lib/libcudart.so.13", "nvidia/cu13/lib", True),
                   ("nvidia/cu13/lib/libcudart.so.13", None, False))
        for runtime, place, found in layouts:
            with self.subTest(runtime), tempfile.TemporaryDirectory() as folder:
                root = pathlib.Path(folder)
                for parent in (root / "marks", (root / runtime).parent, root / (place or "elsewhere")):
                    parent.mkdir(parents=True, exist_ok=True)
                subprocess.run([CC, "-shared", "-o", str(root / runtime), "-x", "c", "/dev/null"], check=True)
                if place:
                    (root / place / "libcupti.so.12").symlink_to(twelve)
                environment = dict(os.environ, RUBATO_MARKS=str(root / "marks"), RUBATO_KERNELS="20ms/1s",
                                   CUDA_INJECTION64_PATH=LIBRARY, LD_PRELOAD=str(root / runtime),
                                   LD_LIBRARY_PATH="" if place else str(twelve.parent))
                subprocess.run([PROGRAM, "nothing"], env=environment, check=True, timeout=60,
                               stdout=subprocess.DEVNULL)
                said = problems(root / "marks")
                if pathlib.Path("/dev/nvidiactl").exists() and found:
                    continue
                (self.assertNotIn if found else self.assertIn)("no libcupti was found", said[0])

    @unittest.skipIf(os.environ.get("RUBATO_SANITIZE"), "a plain program cannot load a sanitized library")
    def test_ranges_of_a_program_with_the_makers_nvtx_reach_the_library(self):
        include = next(unpacked(NVTX).rglob("nvtx3")).parent
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/ranges"
            source = SOURCE / "tests" / "inject" / "vendor" / "ranges.c"
            subprocess.run([CC, "-w", "-isystem", str(include), str(source), "-o", program, "-ldl"],
                           check=True)

            def levels(**environment):
                return subprocess.run([program], env=dict(os.environ, **environment), check=True, text=True,
                                      timeout=60, capture_output=True).stdout.strip()

            nested = "0 1 2 2 1 0 none"
            self.assertEqual(levels(NVTX_INJECTION64_PATH=LIBRARY, RUBATO_KERNELS="2s/60s"), nested)
            plain = levels()
            self.assertEqual(levels(NVTX_INJECTION64_PATH=LIBRARY, RUBATO_KERNELS="off"), plain)
            self.assertNotEqual(plain, nested)

    @unittest.skipIf(os.environ.get("RUBATO_SANITIZE"), "sanitizers add their own")
    @unittest.skipUnless(shutil.which("nm") and shutil.which("readelf"), "no nm and readelf here")
    def test_the_library_brings_nothing_into_the_program_but_its_four_functions(self):
        defined = subprocess.check_output(["nm", "-D", "--defined-only", LIBRARY], text=True)
        self.assertEqual(sorted(line.split()[-1] for line in defined.splitlines()),
                         ["InitializeInjection", "InitializeInjectionNvtx2",
                          "rubato_inject_pop", "rubato_inject_push"])
        dynamic = subprocess.check_output(["readelf", "-d", LIBRARY], text=True)
        needed = set(re.findall(r"NEEDED.*\[(.*?)\.so", dynamic))
        self.assertLessEqual(needed, {"libc", "ld-linux-x86-64", "ld-linux-aarch64"})

    def test_where_there_is_no_cupti_that_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, RUBATO_MARKS=folder, RUBATO_KERNELS="20ms/1s",
                               CUDA_INJECTION64_PATH=LIBRARY)
            environment.pop("LD_LIBRARY_PATH", None)
            subprocess.run([PROGRAM, "nothing"], env=environment, check=True, timeout=60)
            if subprocess.run("ldconfig -p | grep -q libcupti", shell=True).returncode == 0:
                self.skipTest("this machine has a libcupti on the loader's path")
            self.assertRegex(problems(folder)[0], "no libcupti was found")


if __name__ == "__main__":
    unittest.main()
