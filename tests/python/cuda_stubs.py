"""Makes PyPI's PyTorch importable without gigabytes of CUDA libraries, for tests on the CPU.

    cuda_stubs.py FOLDER       FOLDER is site-packages/torch/lib

A library that torch links to and that is not there is stood in for by one whose functions all return 1 (an error in
every one of these libraries). Nothing on a CPU calls them; they are only linked.
"""

import pathlib
import re
import subprocess
import sys


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main(folder):
    libraries = sorted(path for path in folder.glob("*.so*") if not path.is_symlink())
    there = {path.name for path in folder.iterdir()}
    there |= {path.name for path in folder.parents[1].glob("nvidia/*/lib/*")}
    needed, undefined, defined, versions = set(), set(), set(), {}
    for path in libraries:
        needed |= set(re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", str(path))))
        undefined |= set(output("nm", "-D", "-u", "-f", "just-symbols", str(path)).split())
        names = output("nm", "-D", "--defined-only", "-f", "just-symbols", str(path)).split()
        defined |= {name.split("@")[0] for name in names}
        for file, wants in re.findall(
            r"File: (\S+) .*\n((?:.*Name: .*\n)+)", output("readelf", "-V", "-W", str(path))
        ):
            versions.setdefault(file, set()).update(re.findall(r"Name: (\S+)", wants))
    missing = sorted(
        n for n in needed - there if re.match(r"lib(cu|nccl|nvrtc|nvshmem|nvJitLink|nvToolsExt)", n)
    )
    # A symbol without a version may be in any library: all go into the first.
    bare = {s for s in undefined if re.fullmatch(r"(cu|nccl|nvrtc|nvshmem|nvJitLink)\w+", s)} - defined
    for name in missing:
        nodes = {
            v: sorted(s.split("@")[0] for s in undefined if s.endswith("@" + v))
            for v in versions.get(name, ())
        }
        symbols = {s for node in nodes.values() for s in node}
        if name == missing[0]:
            symbols |= bare
        make(folder, name, sorted(symbols), nodes)
        print(f"{name}: {len(symbols)} functions stood in for")


def make(folder, name, symbols, nodes):
    source, script = folder / "stub.c", folder / "stub.map"
    source.write_text(
        "int rubato_test_stub;\n" + "".join(f"int {s}(void) {{ return 1; }}\n" for s in symbols)
    )
    script.write_text("".join(f"{v} {{ {''.join(s + '; ' for s in node)} }};\n" for v, node in nodes.items()))
    flags = [f"-Wl,--version-script={script}"] if nodes else []
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-w",
        f"-Wl,-soname,{name}",
        *flags,
        "-o",
        str(folder / name),
        str(source),
    ]
    subprocess.run(command, check=True)
    source.unlink()
    script.unlink()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
