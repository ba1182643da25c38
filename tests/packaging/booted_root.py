"""A root with systemd as its first process, in namespaces and a control group of its own: what a service really gets."""

import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

PATIENCE = 90
# What systemd wants to find mounted (its CONTAINER_INTERFACE.md); the machine lends device files and nothing else.
BOOT = """
set -e
root=$1
mount --bind $root $root
mount -t proc proc $root/proc
mount -t sysfs -o ro sysfs $root/sys
mount -t tmpfs -o mode=755 tmpfs $root/dev
for name in null zero full random urandom tty; do touch $root/dev/$name; mount --bind /dev/$name $root/dev/$name; done
mkdir $root/dev/pts $root/dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts $root/dev/pts
ln -s pts/ptmx $root/dev/ptmx
mount -t tmpfs tmpfs $root/dev/shm
mount -t tmpfs -o mode=755 tmpfs $root/run
mount -t tmpfs -o mode=1777 tmpfs $root/tmp
mount -t cgroup2 cgroup2 $root/sys/fs/cgroup
cd $root
pivot_root . mnt
umount -l /mnt
exec env -i container=unshare PATH=/usr/sbin:/usr/bin:/sbin:/bin /usr/lib/systemd/systemd --unit=multi-user.target
"""


def control_groups():
    """Where the unified hierarchy is mounted."""
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, folder, kind, *_ = line.split()
        if kind == "cgroup2" and os.access(folder, os.W_OK):
            return pathlib.Path(folder)
    raise unittest.SkipTest("no cgroup2 that can be written to, which systemd needs")


class BootedRoot:
    """close() ends everything inside."""

    def __init__(self, root):
        if os.geteuid() != 0:
            raise unittest.SkipTest("booting systemd in a root needs root")
        if not shutil.which("nsenter"):
            raise unittest.SkipTest("no nsenter to ask a booted root with")
        self.group = control_groups() / f"rubato-test-{os.getpid()}"
        self.group.mkdir()
        self.outside = None
        self.init = None
        try:
            self.boot(root)
        except (OSError, subprocess.SubprocessError, AssertionError) as error:
            said = self.close()
            raise unittest.SkipTest(f"systemd does not boot here: {error}: {said[-300:]}") from None

    def boot(self, root):
        # It moves itself before its namespaces are made, so that its own group is the root of what it sees.
        enter = 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"'
        spaces = ["unshare", "--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup", "--fork", "--kill-child"]
        self.outside = subprocess.Popen(
            ["sh", "-c", enter, "sh", self.group, *spaces, "bash", "-c", BOOT, "bash", root.folder],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.wait_until(lambda: self.first_process() is not None, "a first process")
        self.init = self.first_process()
        self.wait_until(lambda: self.ask("systemctl is-system-running")[1] in ("running", "degraded"), "systemd")

    def first_process(self):
        if self.outside.poll() is not None:
            raise AssertionError("ended")
        children = pathlib.Path(f"/proc/{self.outside.pid}/task/{self.outside.pid}/children").read_text().split()
        ready = [pid for pid in children if pathlib.Path(f"/proc/{pid}/comm").read_text() == "systemd\n"]
        return ready[0] if ready else None

    def close(self):
        said = ""
        if self.outside:
            if self.init:
                os.kill(int(self.init), signal.SIGKILL)
            self.outside.kill()
            said = self.outside.communicate()[0]
        deadline = time.monotonic() + PATIENCE
        while self.group.exists() and time.monotonic() < deadline:
            for folder, _, _ in os.walk(self.group, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    time.sleep(0.05)  # its last process is on its way
        return said

    def entered(self, command):
        spaces = ["nsenter", "-t", self.init, "--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup"]
        return [*spaces, "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "bash", "-c", command]

    def ask(self, command):
        """Status and everything that was said."""
        done = subprocess.run(
            self.entered(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout.strip()

    def run(self, command):
        status, said = self.ask(command)
        if status != 0:
            raise AssertionError(f"{command!r} ended with {status}: {said}\n{self.ask('journalctl --no-pager -n 30')[1]}")
        return said

    def start(self, command):
        """In the background, until the root is closed or it is ended."""
        return subprocess.Popen(self.entered(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_until(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {PATIENCE} s for: {what}")
            time.sleep(0.05)
