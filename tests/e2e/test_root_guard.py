"""The guard is root's and the run is not: under `sudo rubato`, and with --sudo. What lies in /run/rubato is root's then.

Each test has a /run of its own, in a mount namespace, and an NVML stand-in that does not say that it is one, so that
rubato takes the simulated GPU for a real one. sudo itself is played by a script and the test.
"""

import ctypes
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import unittest

import harness
from guard_world import Guard, uuid_of
from harness import FOUND_W, Machine, MachineTest

NOBODY = 65534
WANTED_W = 150
RUN = pathlib.Path("/run/rubato")
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
# Hands command and standard input to the test, which is root, and ends as the command does.
SUDO = """#!/usr/bin/python3
import json, socket, sys
print("sudo was asked:", *sys.argv[1:], file=sys.stderr)
if sys.argv[1] == "-v": raise SystemExit(0)
root = socket.socket(socket.AF_UNIX)
root.connect({path!r})
root.sendall(json.dumps([sys.argv[1:], sys.stdin.read()]).encode())
root.shutdown(socket.SHUT_WR)
raise SystemExit(int(root.recv(16)))
"""


def run_of_its_own():
    """This process and what it starts see an empty /run; why not, where they cannot."""
    if os.geteuid() != 0:
        return "the guard must be root's"
    libc = ctypes.CDLL(None, use_errno=True)
    done = (
        libc.unshare(CLONE_NEWNS) == 0
        and libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) == 0
        and libc.mount(b"tmpfs", b"/run", b"tmpfs", 0, None) == 0
    )
    if not done:
        return f"no mount namespace: {os.strerror(ctypes.get_errno())}"
    seen = subprocess.run([harness.RUBATO, "--version"], user=NOBODY, group=NOBODY, capture_output=True)
    return "" if seen.returncode == 0 else "user nobody cannot run rubato here"


class UserMachine(Machine):
    """Of the user nobody, with a GPU that seems real."""

    def __init__(self, **options):
        super().__init__(**options)
        library = (harness.STANDIN / "libnvidia-ml.so.1").read_bytes()
        (self.folder / "lib").mkdir()
        (self.folder / "lib" / "libnvidia-ml.so.1").write_bytes(library.replace(b"rubatoSimulatedClock", b"rubatoSomebodysClock"))
        for path in (self.folder, *self.folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        (self.folder / "bin").mkdir()
        sudo = self.folder / "bin" / "sudo"
        sudo.write_text(SUDO.format(path=str(self.folder / "root")))
        sudo.chmod(0o755)
        self.root = socket.socket(socket.AF_UNIX)
        self.root.bind(str(self.folder / "root"))
        os.chown(self.folder / "root", NOBODY, NOBODY)
        self.root.listen()
        self.environment |= {
            "LD_LIBRARY_PATH": str(self.folder / "lib"),
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
        }
        del self.environment["XDG_RUNTIME_DIR"]  # root's guard and the user have folders of their own
        self.environment["TMPDIR"] = str(self.folder / "runtime")
        self.as_user("devices", "--gpu", "0")  # the world is theirs

    def as_user(self, *arguments, **options):
        return self.run(*arguments, user=NOBODY, group=NOBODY, **options)

    def close(self):
        self.root.close()
        super().close()

    def be_sudo(self):
        """Starts as root what one sudo of the user's is asked to, in a thread."""

        def serve():
            with self.root.accept()[0] as asked, asked.makefile() as text:
                command, token = json.load(text)
                done = subprocess.run(
                    command, input=token, text=True, env={**self.environment, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
                )
                asked.sendall(str(done.returncode).encode())

        threading.Thread(target=serve, daemon=True).start()

    def through_sudo(self, *arguments, **options):
        """`sudo rubato …`, as the user nobody."""
        options["environment"] = {"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY), **options.pop("environment", {})}
        return self.start(*arguments, **options)


@unittest.skipIf(harness.SANITIZED, "the sanitizer's runtime would have to be readable for nobody")
class RootGuardTest(MachineTest):
    @classmethod
    def setUpClass(cls):
        if why := run_of_its_own():
            raise unittest.SkipTest(why)

    def setUp(self):
        subprocess.run(["rm", "-rf", RUN], check=True)

    def user_machine(self, **options):
        return self.kept(UserMachine(**options))

    @staticmethod
    def end_left_over(machine):
        harness.end_marked(f"RUBATO_SIM_WORLD={machine.environment['RUBATO_SIM_WORLD']}")


class TheFolder(RootGuardTest):
    def test_is_readable_for_all_whatever_the_guards_umask_and_whatever_was_there(self):
        machine = self.user_machine()
        for there in (False, True):
            if there:
                RUN.chmod(0o700)  # as a guard of an earlier version left it
            guard = Guard(machine)
            self.assertEqual(guard.acquire(uuid_of(machine))[0], "granted")
            self.assertEqual(RUN.stat().st_mode & 0o777, 0o755)
            self.assertEqual(guard.end(), 0)

    def test_a_user_who_may_not_look_is_told_that_root_has_to(self):
        machine = self.user_machine(rate=40)
        RUN.mkdir(mode=0o700)
        done = machine.as_user("restore")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("only root can tell", done.stderr)
        self.assertIn("sudo rubato restore", done.stderr)

    def test_a_closed_one_is_no_rubatod_so_sudo_is_asked(self):
        machine = self.user_machine(rate=40)
        machine.be_sudo()
        RUN.mkdir(mode=0o700)
        done = machine.as_user(
            "run", "--sudo", "--accept-unrestored", "--gpu", "0", "--power-limit", WANTED_W, "--", *machine.train(50)
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("sudo was asked: -v", done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)


class TheGuardIsKilled(RootGuardTest):
    def killed(self, *prefix, **options):
        """A run of nobody's with a guard of root's, which is killed once it has set: limit then, and the run's words."""
        # Such a GPU lives in real time, and so does what comes before a run sets it.
        machine = self.user_machine(rate=1)
        machine.be_sudo()
        process = machine.start(
            "run", *prefix, "--accept-unrestored", "--gpu", "0", "--power-limit", WANTED_W, "--",
            "sh", "-c", f"{' '.join(machine.train(100_000))} & sleep 18; kill $!; wait; exit 4",
            stdout=subprocess.DEVNULL, **options,
        )
        self.wait_for_limit(machine, WANTED_W, "the wanted limit to be in force")
        guard = self.guard_of(machine)
        os.kill(guard, signal.SIGKILL)
        self.wait_for_limit(machine, FOUND_W, "the guard's successor to put back")
        self.assertIsNone(process.poll(), "the job must still be at work")
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 4, errors)
        self.assertIn("the guard has died; what it left is put back", errors)
        self.assertNotIn("someone else", errors)
        self.assertEqual(machine.gpu().limit(), FOUND_W)
        self.assertEqual(sorted(p.suffix for p in RUN.iterdir()), [".lock"])
        last = json.loads(machine.as_user("show", "last", "--json").stdout)
        self.assertEqual(last["gpus"][0]["restoration"], "restored")

    @staticmethod
    def guard_of(machine):
        """The older of the two."""
        mark = f"RUBATO_SIM_WORLD={machine.environment['RUBATO_SIM_WORLD']}"
        return min(pid for pid in harness.marked(mark) if harness.is_guard(pid))

    def test_under_sudo_its_successor_puts_back(self):
        self.killed(environment={"SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)})

    def test_with_the_option_its_successor_puts_back(self):
        self.killed("--sudo", user=NOBODY, group=NOBODY)

    def test_with_its_successor_the_run_says_no(self):
        machine = self.user_machine(rate=1)
        process = machine.through_sudo(
            "run", "--accept-unrestored", "--gpu", "0", "--power-limit", WANTED_W, "--",
            "sh", "-c", f"{' '.join(machine.train(100_000))} & sleep 14; kill $!; wait; exit 4",
            stdout=subprocess.DEVNULL,
        )
        self.wait_for_limit(machine, WANTED_W, "the wanted limit to be in force")
        mark = f"RUBATO_SIM_WORLD={machine.environment['RUBATO_SIM_WORLD']}"
        both = sorted((pid for pid in harness.marked(mark) if harness.is_guard(pid)), reverse=True)
        self.assertEqual(len(both), 2)
        for pid in both:
            os.kill(pid, signal.SIGKILL)
        _, errors = process.communicate(timeout=harness.PATIENCE)
        self.assertEqual(process.returncode, 4, errors)
        self.assertIn("the guard has died, and what it left is not put back", errors)
        self.assertEqual(machine.gpu().limit(), WANTED_W)
        refused = machine.as_user("restore")
        self.assertIn("sudo rubato restore", refused.stderr)
        done = machine.run("restore")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(machine.gpu().limit(), FOUND_W)


if __name__ == "__main__":
    unittest.main()
