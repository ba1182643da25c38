"""The tarball and the wheel of tools/make-portable, where a user would put them: on systems much older than this one."""

import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import venv
import zipfile

from old_kernel import forget_new_calls
from old_root import old_root

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PORTABLE = pathlib.Path(os.environ.get("RUBATO_PORTABLE_DIR", SOURCE / "build" / "portable"))
ROOTS = PORTABLE / "roots"
FOUND_W = 200
SCENARIO = {"rights": "owner", "rate": 20, "found": {"power_limit_w": FOUND_W}}
VERSION = re.search(r"^project\(rubato VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text(), re.M)[1]


def the_one(pattern):
    found = glob.glob(str(PORTABLE / pattern))
    if not found:
        raise unittest.SkipTest(f"no {pattern} in {PORTABLE}: tools/make-portable")
    return pathlib.Path(found[0])


def user_of(folder):
    """Environment of a user whose files and simulated GPUs all lie in the folder."""
    for name in ("runtime", "state"):
        (folder / name).mkdir(mode=0o700)
    (folder / "scenario.json").write_text(json.dumps(SCENARIO))
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "RUBATO_SIM_SCENARIO": str(folder / "scenario.json"),
        "XDG_RUNTIME_DIR": str(folder / "runtime"),
        "XDG_STATE_HOME": str(folder / "state"),
    }


def train(rubato):
    """The main job, short: a limit is set and put back by the guard, which rubato starts from its own file."""
    return [rubato, "run", "--gpu", "sim:v100", "--power-limit", "150", "--", rubato, "sim", "train", "resnet50", "--iterations", "60"]


class Tarball(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.archive = the_one("rubato-*-linux-x86_64.tar.gz")
        cls.name = cls.archive.name[: -len(".tar.gz")]

    def check_main_job(self, root, rubato, **options):
        root_file = root.folder / "scenario.json"
        root_file.write_text(json.dumps(SCENARIO))
        settings = {"RUBATO_SIM_SCENARIO": "/scenario.json", **options}
        self.assertEqual(root.inside(rubato, "--version", **settings).split()[:2], ["rubato", VERSION])
        self.assertIn("Tesla V100", root.inside(rubato, "devices", "--gpu", "sim:v100", **settings))
        done = root.ask(*train(rubato), **settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = json.loads(root.inside(rubato, "show", "last", "--json", **settings))
        (gpu,) = shown["gpus"]
        self.assertEqual(gpu["found"]["power_limit_w"], FOUND_W)
        self.assertEqual(gpu["requested"]["power_limit_w"], 150)
        self.assertEqual(gpu["restoration"], "restored")
        self.assertIn(f"{FOUND_W} W requested", root.inside(rubato, "devices", "--gpu", "sim:v100", **settings))

    def test_the_main_job_runs_on_the_oldest_system_and_after_the_folder_moved(self):
        with old_root("xenial", ROOTS) as root:
            root.put(self.archive, "/opt")
            self.check_main_job(root, f"/opt/{self.name}/bin/rubato")
            elsewhere = root.folder / "home" / "a user" / "tools"
            elsewhere.parent.mkdir(parents=True)
            (root.folder / "opt" / self.name).rename(elsewhere)
            self.check_main_job(root, "/home/a user/tools/bin/rubato", HOME="/home/a user")
            # Found by a relative name and through a link.
            (root.folder / "usr/bin/rubato").symlink_to("/home/a user/tools/bin/rubato")
            self.check_main_job(root, "rubato", folder="/home")
            self.check_main_job(root, "../a user/tools/bin/rubato", folder="/home/a user")

    def test_it_runs_beside_another_c_library_of_its_time(self):
        with old_root("bullseye", ROOTS) as root:
            root.put(self.archive, "/opt")
            self.check_main_job(root, f"/opt/{self.name}/bin/rubato")

    def test_without_a_driver_it_says_so_and_runs_the_job(self):
        with old_root("xenial", ROOTS) as root:
            root.put(self.archive, "/opt")
            done = root.ask(f"/opt/{self.name}/bin/rubato", "measure", "--", "sh", "-c", "exit 7")
            self.assertEqual(done.returncode, 7, done.stderr)

    def test_the_stand_in_serves_a_client_of_the_old_c_library(self):
        with old_root("bullseye", ROOTS) as root:
            root.put(self.archive, "/opt")
            script = (
                "import ctypes; nvml = ctypes.CDLL('libnvidia-ml.so.1'); count = ctypes.c_uint();"
                "print(nvml.nvmlInit_v2(), nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)), count.value)"
            )
            out = root.inside(
                "python3", "-c", script,
                LD_LIBRARY_PATH=f"/opt/{self.name}/lib/rubato", RUBATO_SIM_PROFILES="v100,v100", RUBATO_SIM_WORLD="/tmp/world",
            )  # fmt: skip
            self.assertEqual(out.split(), ["0", "0", "2"])

    def test_the_stand_in_lies_where_no_loader_looks_by_itself(self):
        with tarfile.open(self.archive) as archive:
            names = archive.getnames()
            owners = {(member.uid, member.gid) for member in archive}
        libraries = [n for n in names if ".so" in n]
        self.assertEqual(libraries, [f"{self.name}/lib/rubato/libnvidia-ml.so.1", f"{self.name}/lib/rubato/librubato-inject.so"])
        self.assertEqual(owners, {(0, 0)})
        for text in ("LICENSE", "THIRD-PARTY-NOTICES"):
            self.assertIn(f"{self.name}/share/doc/rubato/{text}", names)

    def test_every_library_inside_has_its_licence_in_the_notices(self):
        with tarfile.open(self.archive) as archive:
            notices = archive.extractfile(f"{self.name}/share/doc/rubato/THIRD-PARTY-NOTICES").read().decode()
        titles = re.findall(r"^======== (.+)$", notices, re.M)
        for library in ("fmt", "libsodium", "zstd", "sqlite3_", "cli11", "expected", "nlohmann-json3", "libc++", "libunwind", "compiler_rt"):
            self.assertTrue(any(library in title for title in titles), f"{library} is not among {titles}")


class OldKernel(unittest.TestCase):
    """The C library's symbols are not all: calls that an old kernel does not know must have a way around them."""

    def setUp(self):
        archive = the_one("rubato-*-linux-x86_64.tar.gz")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-kernel-"))
        self.addCleanup(shutil.rmtree, self.folder)
        subprocess.run(["tar", "-C", self.folder, "-xf", archive], check=True)
        self.rubato = self.folder / archive.name[: -len(".tar.gz")] / "bin" / "rubato"
        self.environment = user_of(self.folder)

    def start(self, *command, **options):
        return subprocess.Popen(
            list(map(str, command)), env=self.environment, preexec_fn=forget_new_calls, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options,
        )  # fmt: skip

    def test_the_main_job_runs_on_a_kernel_of_2016(self):
        process = self.start(*train(self.rubato))
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        shown = json.loads(subprocess.check_output([self.rubato, "show", "last", "--json"], env=self.environment))
        self.assertEqual(shown["gpus"][0]["restoration"], "restored")

    def test_the_guard_keeps_no_descriptor_of_the_caller_there(self):
        hear, tell = os.pipe()
        self.addCleanup(os.close, hear)
        inherited = os.readlink(f"/proc/self/fd/{tell}")
        process = self.start(
            self.rubato, "run", "--gpu", "sim:v100", "--power-limit", "150", "--", "cat", stdin=subprocess.PIPE, pass_fds=[tell]
        )
        os.close(tell)
        try:
            deadline = time.monotonic() + 60
            while (held := descriptors(guard_of(process.pid))) is None or inherited in held:
                self.assertLess(time.monotonic(), deadline, f"the guard holds {held}")
                time.sleep(0.01)
            self.assertIn(inherited, descriptors(process.pid))
        finally:
            process.communicate(input="", timeout=60)
        self.assertEqual(process.returncode, 0)


def guard_of(pid):
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        words = pathlib.Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")
        if words[1:2] == [b"guard"]:
            return child
    return None


def descriptors(pid):
    """What a process holds open; None while there is no process."""
    if pid is None:
        return None
    return [os.readlink(entry) for entry in glob.glob(f"/proc/{pid}/fd/*") if os.path.lexists(entry)]


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.wheel = the_one("rubato_gpu-*.whl")

    ASK = "import rubato, subprocess; print(rubato.__version__, subprocess.check_output([rubato.binary(), '--version'], text=True))"
    ANSWER = [VERSION, "rubato", VERSION]

    def test_pip_installs_the_command_and_removes_it(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-wheel-"))
        self.addCleanup(shutil.rmtree, folder)
        venv.create(folder / "venv", with_pip=True)
        pip = [folder / "venv/bin/python", "-m", "pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "install", "--no-index", self.wheel], check=True)
        program = folder / "venv/bin/rubato"
        self.assertEqual(subprocess.check_output([program, "--version"], text=True).split()[:2], ["rubato", VERSION])
        said = subprocess.check_output([folder / "venv/bin/python", "-c", self.ASK], text=True, cwd=folder)
        self.assertEqual(said.split()[:3], self.ANSWER)
        done = subprocess.run(list(map(str, train(program))), text=True, capture_output=True, timeout=120, env=user_of(folder))
        self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run([*pip, "uninstall", "--yes", "rubato-gpu"], check=True)
        left = [p for p in (folder / "venv").rglob("*rubato*")]
        self.assertEqual(left, [])

    def test_the_wheel_runs_on_an_older_system_with_its_own_python(self):
        with old_root("bullseye", ROOTS) as root:
            shutil.copy(self.wheel, root.folder / "tmp")
            root.inside("python3", "-m", "venv", "/opt/venv")
            root.inside("/opt/venv/bin/pip", "install", "--no-index", f"/tmp/{self.wheel.name}")
            self.assertEqual(root.inside("/opt/venv/bin/python", "-c", self.ASK).split()[:3], self.ANSWER)
            self.assertIn("Tesla V100", root.inside("/opt/venv/bin/rubato", "devices", "--gpu", "sim:v100"))

    def test_it_carries_the_very_files_of_the_tarball(self):
        archive = the_one("rubato-*-linux-x86_64.tar.gz")
        name = archive.name[: -len(".tar.gz")]
        with tarfile.open(archive) as tar, zipfile.ZipFile(self.wheel) as wheel:
            data = next(n for n in wheel.namelist() if n.endswith(".data/scripts/rubato"))
            self.assertEqual(wheel.read(data), tar.extractfile(f"{name}/bin/rubato").read())
            standin = tar.extractfile(f"{name}/lib/rubato/libnvidia-ml.so.1").read()
            self.assertEqual(wheel.read("rubato/standin/libnvidia-ml.so.1"), standin)

    def test_its_name_promises_no_older_c_library_than_its_files_need(self):
        promised = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_x86_64", self.wheel.name).groups()))
        folder = tempfile.mkdtemp(prefix="rubato-wheel-")
        self.addCleanup(shutil.rmtree, folder)
        with zipfile.ZipFile(self.wheel) as wheel:
            programs = [n for n in wheel.namelist() if wheel.read(n)[:4] == b"\x7fELF"]
            self.assertEqual(len(programs), 3, programs)
            for program in programs:
                symbols = subprocess.check_output(["objdump", "-T", wheel.extract(program, folder)], text=True)
                needed = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", symbols)}
                self.assertTrue(needed)
                self.assertLessEqual(max(needed)[:2], promised, program)


if __name__ == "__main__":
    sys.exit(unittest.main())
