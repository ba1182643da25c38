"""Root file systems of distributions: made once by mmdebstrap, unpacked for each test, entered in a namespace."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import unittest

# Unless a variant says otherwise packages are only unpacked in these roots, and their scripts never run.
BASE = ["base-files", "bash", "coreutils", "dash", "grep", "libc-bin", "sed"]
XENIAL_INDEX = "30e9ff343d9ec0b64d28d27010bf472090bb3399b4b6bc5aee077085e920e89b"
SUITES = {
    # glibc 2.23. Debian has no keyring of Ubuntu's, so the index of this suite, frozen in April 2016, is known by hash.
    "xenial": {
        "packages": BASE,
        "source": "deb [trusted=yes] http://archive.ubuntu.com/ubuntu xenial main",
        "hooks": [f'echo "{XENIAL_INDEX}  $1/var/lib/apt/lists/archive.ubuntu.com_ubuntu_dists_xenial_Release" | sha256sum --check --status'],
    },
    # glibc 2.31, with a Python new enough for the wheel.
    "bullseye": {
        "packages": [*BASE, "python3-minimal", "python3-venv"],
        "source": "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bullseye main",
        "hooks": [],
    },
    # What rubato's own packages are for, with dpkg and what they depend on configured; nothing is started.
    "bookworm": {
        "variant": "essential",
        "packages": ["systemd", "libfmt9", "libmicrohttpd12", "libsodium23", "libsqlite3-0", "libzstd1", "procps", "slurm-client", "slurmd", "zlib1g"],
        "source": "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian bookworm main",
        "hooks": [],
    },
}
# What programs take for granted; bound from the machine, in the namespace only.
DEVICES = ("null", "zero", "urandom", "random")


def tarball(suite, cache):
    """The root as a tar file; skips the test where it can be neither found nor made."""
    made = cache / f"{suite}.tar"
    if made.exists():
        return made
    if not shutil.which("mmdebstrap"):
        raise unittest.SkipTest("no mmdebstrap to make an old root with")
    cache.mkdir(parents=True, exist_ok=True)
    part = cache / f"{suite}.part.tar"
    about = SUITES[suite]
    hooks = [f"--extract-hook={hook}" for hook in about["hooks"]]
    done = subprocess.run(
        ["mmdebstrap", "--quiet", f"--variant={about.get('variant', 'extract')}", f"--include={','.join(about['packages'])}",
         *hooks, "--format=tar", about.get("suite", suite), str(part), about["source"]],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        raise unittest.SkipTest(f"cannot make a root of {suite}: {done.stderr.strip().splitlines()[-3:]}")
    part.rename(made)
    return made


class OldRoot:
    """One unpacked root. Commands run in it as an ordinary user's processes would, with their own mounts and pids."""

    def __init__(self, suite, cache):
        made = tarball(suite, cache)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"rubato-{suite}-"))
        try:
            subprocess.run(["tar", "-C", self.folder, "--exclude=./dev/*", "-xf", made], check=True)
            for name in DEVICES:
                (self.folder / "dev" / name).touch()
            self.inside("true")
        except (subprocess.CalledProcessError, OSError) as error:
            self.close()
            raise unittest.SkipTest(f"cannot enter a root of {suite}: {error}") from None

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def put(self, archive, folder):
        """Unpacks a tar file into a folder of the root."""
        to = self.folder / folder.lstrip("/")
        to.mkdir(parents=True, exist_ok=True)
        subprocess.run(["tar", "-C", to, "-xf", archive], check=True)

    def inside(self, *command, **environment):
        return self.ask(*command, check=True, **environment).stdout

    def entered(self, folder="/", **environment):
        """The words that stand before a command that is to run inside; everything it started ends with it."""
        bind = "".join(f"mount --bind /dev/{name} $root/dev/{name}; " for name in DEVICES)
        script = f'set -e; root=$1; shift; mount -t proc proc $root/proc; {bind}exec chroot $root "$@"'
        settings = {"PATH": "/usr/bin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8", "TMPDIR": "/tmp", **environment}
        enter = ["unshare", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, "sh"]
        change = ["env", "-i", *[f"{k}={v}" for k, v in settings.items()], "bash", "-c", 'cd "$1" && shift && exec "$@"', "-", folder]
        return [*enter, str(self.folder), *change]

    def ask(self, *command, check=False, folder="/", **environment):
        return subprocess.run(
            [*self.entered(folder, **environment), *map(str, command)],
            check=check, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip


@contextlib.contextmanager
def old_root(suite, cache):
    root = OldRoot(suite, cache)
    try:
        yield root
    finally:
        root.close()
