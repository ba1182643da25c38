"""Which packages a program is made of and needs: asked of the build folder and of the packages themselves."""

import functools
import json
import pathlib
import re
import subprocess
import tempfile
import urllib.parse

SOURCE = pathlib.Path(__file__).resolve().parents[2]
# Of what is compiled or copied in; a shared library of the distribution keeps its own file `copyright`.
LICENCES = {
    "cli11": "BSD-3-Clause", "eigen3": "MPL-2.0", "tl-expected": "CC0-1.0", "fmtlib": "MIT",
    "libsodium": "ISC", "libzstd": "BSD-3-Clause", "nlohmann-json3": "MIT", "sqlite3": "blessing", "tomlplusplus": "MIT", "uplot": "MIT",
    "zlib": "Zlib",
}  # fmt: skip
# Where a program lies in the build folder; others lie in lib/rubato.
LINKED_IN = {"rubato": "bin", "rubatod": "bin", "rubato-exporter": "bin", "libnvidia-ml.so.1": "simgpu"}
STATIC = {"libfmt.a": "fmtlib", "libsodium.a": "libsodium", "libsqlite3.a": "sqlite3", "libz.a": "zlib", "libzstd.a": "libzstd"}


def run(*command, **options):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, **options).stdout


def needed(content):
    """The shared libraries that a program asks for."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        return re.findall(r"^\s+NEEDED\s+(\S+)$", run("objdump", "-p", file.name), re.M)


def target_of(name):
    file = pathlib.PurePosixPath(name).name
    return f"{LINKED_IN.get(file, 'lib/rubato')}/{file}"


@functools.cache
def all_headers(build):
    """For every object that ninja has made, the files that the compiler read for it."""
    headers = {}
    for block in run("ninja", "-C", build, "-t", "deps").split("\n\n"):
        first, *rest = block.splitlines() or [""]
        headers[first.split(": #deps")[0]] = {line.strip() for line in rest}
    return headers


@functools.cache
def inputs(build, target):
    return frozenset(run("ninja", "-C", build, "-t", "inputs", target).splitlines())


def compiled_in(build, target):
    """Files that were read for the objects of a target."""
    found = set()
    for item in inputs(build, target):
        found |= all_headers(build).get(item, set())
    return found


def web_bundle(build, target):
    """What the page of HTML reports holds, where a program holds that page."""
    if not any(item.endswith("web/dist/report.html") for item in inputs(build, target)):
        return []
    lock = json.loads((SOURCE / "web" / "package-lock.json").read_text())["packages"]["node_modules/uplot"]
    purl = f"pkg:npm/uplot@{lock['version']}"
    return [{"name": "uplot", "version": lock["version"], "purl": purl, "licence": LICENCES["uplot"], "how": "copied in"}]


def debian(name, version, how, source=None, arch="amd64"):
    purl = f"pkg:deb/debian/{urllib.parse.quote(name)}@{urllib.parse.quote(version)}?arch={arch}"
    part = {"name": name, "version": version, "how": how, "purl": purl}
    licence = LICENCES.get(source or name)
    return {**part, "licence": licence} if licence and how != "linked when started" else part


@functools.cache
def owners(paths):
    """The installed packages that own these files: name, version, source."""
    # A folder above may be a link, as /lib is to /usr/lib, and dpkg knows a file by one name only.
    names = set()
    for path in paths:
        names |= {path, path.removeprefix("/usr"), str(pathlib.Path(path).resolve())}
    asked = subprocess.run(["dpkg-query", "--search", *sorted(names)], capture_output=True, text=True, check=False).stdout
    packages = {line.split(": ")[0].split(",")[0] for line in asked.splitlines() if not line.startswith("diversion")}
    if not packages:
        return ()
    shown = run("dpkg-query", "--show", "--showformat=${Package}\t${Version}\t${source:Package}\n", *sorted(packages))
    return tuple(tuple(line.split("\t")) for line in shown.splitlines())


class Debian:
    """A build against the packages that are installed here."""

    def __init__(self, build):
        self.build = build

    def parts(self, name, content):
        target = target_of(name)
        outside = tuple(sorted(f for f in compiled_in(self.build, target) if f.startswith("/usr/")))
        shared = tuple(sorted(self.library(soname) for soname in needed(content)))
        yield from (debian(n, v, "compiled in", source) for n, v, source in owners(outside))
        yield from (debian(n, v, "linked when started", source) for n, v, source in owners(shared))
        yield from web_bundle(self.build, target)

    @staticmethod
    def library(soname):
        for line in run("/sbin/ldconfig", "-p").splitlines():
            if line.split()[:1] == [soname]:
                return line.split()[-1]
        raise SystemExit(f"make-sbom: {soname} is not installed here: run it where the files were built")


class Portable:
    """tools/make-portable's build: static libraries of Debian's sources, headers of its packages, the compiler's runtime."""

    def __init__(self, folder):
        self.folder = folder
        self.build = folder / "rubato"

    def parts(self, name, content):
        target = target_of(name)
        read = compiled_in(self.build, target)
        for item in sorted(inputs(self.build, target)):
            if source := STATIC.get(pathlib.PurePosixPath(item).name):
                (dsc,) = (self.folder / "packages").glob(f"{source}_*.dsc")
                yield debian(source, dsc.stem.split("_")[1], "compiled in", arch="source")
        prefix = str((self.folder / "dependencies").resolve()) + "/"
        ours = {f.removeprefix(prefix) for f in read if f.startswith(prefix)}
        for deb, files in self.headers():
            if ours & files:
                package, version, source = run("dpkg-deb", "--show", "--showformat=${Package}\t${Version}\t${Source}", deb).split("\t")
                yield debian(package, version, "compiled in", source.split(" ")[0] or package)
        pin = (SOURCE / "cmake" / "portable" / "requirements.txt").read_text()
        zig = re.search(r"^ziglang==([0-9.]+)", pin, re.M)[1]
        # libc++, libc++abi, libunwind and compiler_rt come from there.
        yield {"name": "ziglang", "version": zig, "purl": f"pkg:pypi/ziglang@{zig}", "how": "compiled in"}
        yield from web_bundle(self.build, target)

    @functools.cache
    def headers(self):
        return tuple(
            (deb, frozenset(line.split()[5].removeprefix("./usr/") for line in run("dpkg-deb", "--contents", deb).splitlines()))
            for deb in sorted((self.folder / "packages" / "debs").glob("*-dev_*.deb"))
        )
