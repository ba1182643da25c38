"""A machine of its own for one situation: root file system, user, host name, and GPUs behind the NVML stand-in."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import harness  # noqa: E402

UID = 2026
SUDOERS = """Defaults env_keep += "RUBATO_SIM_WORLD RUBATO_SIM_SCENARIO RUBATO_SIM_PROFILES"
root ALL=(ALL) NOPASSWD: ALL
ada ALL=(ALL) NOPASSWD: ALL
"""
WITHOUT_SYS_ADMIN = ["--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin"]


def why_not_here():
    """What keeps this machine from making others; empty where nothing does."""
    if os.geteuid() != 0:
        return "only root can make a machine with users of its own"
    tried = subprocess.run(
        ["unshare", "-m", "-u", "-C", "-p", "-f", "sh", "-c", "mount -t tmpfs tmpfs /mnt"], capture_output=True, text=True, check=False
    )
    return "" if tried.returncode == 0 else f"no namespaces of one's own here: {tried.stderr.strip()}"


class Place:
    """profiles: the simulated GPUs, or None for a machine without a driver."""

    def __init__(self, host, profiles=None, user="ada", sudo=False, container=False, withheld=False, environment=None, files=None, **scenario):
        self.host, self.profiles, self.user, self.sudo = host, profiles, user, sudo
        self.environment, self.files = dict(environment or {}), dict(files or {})
        self.drop = WITHOUT_SYS_ADMIN if withheld else []
        # As hardware is: the driver asks for CAP_SYS_ADMIN, and somebody set a limit long ago.
        self.scenario = {"rights": "cap_sys_admin", "rate": 40, "found": {"power_limit_w": harness.FOUND_W}, "faults": [], **scenario}
        if container:
            self.files["/.dockerenv"] = ""

    def run(self, commands, patience=120):
        with tempfile.TemporaryDirectory(prefix="rubato-place-") as folder:
            return self._run(pathlib.Path(folder), commands, patience)

    def _run(self, folder, commands, patience):
        for name in ("root", "sim"):
            (folder / name).mkdir(mode=0o755)
        (folder / "sim" / "scenario.json").write_text(json.dumps(self.scenario))
        binds = [(str(harness.BUILD / "bin"), "/opt/rubato"), (str(HERE / "programs"), "/opt/programs"), (str(folder / "sim"), "/sim")]
        environment = {"PATH": "/opt/rubato:/opt/programs:/usr/local/bin:/usr/bin:/bin", "USER": self.user or "root", "LANG": "C.UTF-8"}
        if self.user:
            environment["XDG_RUNTIME_DIR"] = f"/run/user/{UID}"
        if self.profiles:
            binds.append((str(harness.STANDIN), "/opt/driver"))
            environment |= {"RUBATO_SIM_WORLD": "/sim/world", "RUBATO_SIM_SCENARIO": "/sim/scenario.json", "RUBATO_SIM_PROFILES": self.profiles}
        if "ASAN_OPTIONS" in os.environ:
            environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
        home = f"/home/{self.user}" if self.user else "/root"
        description = {
            "root": str(folder / "root"), "host": self.host, "user": self.user, "uid": UID, "drop": self.drop,
            "sudo": SUDOERS if self.sudo else "", "binds": binds, "environment": {**environment, **self.environment},
            "files": {path.replace("~", home): content for path, content in self.files.items()},
            "commands": commands, "patience": patience,
        }
        done = subprocess.run(
            ["unshare", "-m", "-u", "-C", "-p", "-f", "--kill-child", "/usr/bin/python3", str(HERE / "inside.py")],
            input=json.dumps(description), capture_output=True, text=True, timeout=patience * len(commands) + 30, check=False,
        )
        if done.returncode != 0:
            raise AssertionError(f"{self.host}: {done.stderr}")
        return json.loads(done.stdout)


@unittest.skipIf(why_not_here(), why_not_here())
class PlaceTest(unittest.TestCase):
    """A test that needs machines of its own."""
