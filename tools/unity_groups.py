#!/usr/bin/env python3
"""Which sources of a target can be compiled as one: those in which no name of an unnamed namespace stands twice, or hides
one of a header or of a function.

Standard input: a line "TARGET<TAB>SOURCE<TAB>SOURCE..." for each target. Standard output: for each group of two sources
and more, a line "TARGET<TAB>SOURCE<TAB>SOURCE...". A source that is part of several targets stays alone.

It reads the formatted text, not the language: what is declared in an unnamed namespace begins a line. A name it
takes for one that clashes costs a group; one that it misses is an error of the compiler, not a wrong program."""
import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LARGEST = 8
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
TYPE = re.compile(r"(?:struct|class|enum(?: class)?|union)\s+(?:alignas\(\w+\)\s+)?([A-Za-z_]\w*)")
ALIAS = re.compile(r"using\s+([A-Za-z_]\w*)\s*=")
CONSTANT = re.compile(r"constexpr\b.*?\b(k[A-Z]\w*)\b")
IMPORT = re.compile(r"^using ([\w:]+::)(\w+);", re.M)
# Of the C library, and called without a namespace here and there.
SYSTEM = {"accept", "bind", "close", "connect", "exec", "fork", "index", "kill", "link", "listen", "open", "pause", "pipe", "poll",
          "read", "remove", "rename", "select", "send", "signal", "sleep", "stat", "sync", "time", "wait", "write"}
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)


def names_of(text):
    names = {"#" + name for name in MACRO.findall(text)}
    depth = 0
    for line in text.splitlines():
        if line == "namespace {":
            depth += 1
        elif line == "}  // namespace":
            depth -= 1
        elif depth > 0 or line.startswith(("static ", "using ")):
            names |= declared(line)
    return names


def declared(line):
    if not line or not (line[0].isalpha() or line[0] in "[_:") or line.startswith(("template", "namespace", "TEST", "public:")):
        return set()
    if found := TYPE.match(line):
        return {found[1]}
    if line.startswith("using"):
        found = ALIAS.match(line)
        return {found[1]} if found else set()
    before = re.split(r"[(={;]|\[\d*\]", line.removeprefix("[[nodiscard]] ").removeprefix("[[noreturn]] "), maxsplit=1)[0]
    identifiers = IDENTIFIER.findall(re.sub(r"<[^()]*>", "", before))
    return {identifiers[-1]} if len(identifiers) > 1 else set()


@functools.cache
def header_names(room):
    names = set()
    for header in room.rglob("*.h"):
        text = header.read_text(encoding="utf-8")
        names |= {name for _, name in IMPORT.findall(text)}
        for line in text.splitlines():
            names |= declared(line)
            if found := CONSTANT.search(line):
                names.add(found[1])
    return names


def room_of(source):
    """The folder two below the project's: what other rooms call something is in another namespace."""
    return ROOT.joinpath(*pathlib.Path(source).relative_to(ROOT).parts[:2])


class Source:
    def __init__(self, path):
        text = pathlib.Path(path).read_text(encoding="utf-8")
        lines = text.splitlines()
        self.path = path
        self.names = names_of(text)
        self.local = {name for line in lines if line.startswith(" ") for name in CONSTANT.findall(line)}
        self.imports = {name: whole + name for whole, name in IMPORT.findall(text)}
        # What asks for other declarations of the system headers, opens a namespace, or has a main, stays alone.
        self.alone = bool(re.search(r"^#\s*define _|^int main\(|^using namespace ", text, re.M)) or bool(
            (self.names | self.local) & (SYSTEM | header_names(room_of(path)) | header_names(ROOT / "src/base") | header_names(ROOT / "src/core")))

    def bears(self, other):
        return not (self.names & (other.names | other.local | other.imports.keys()) or self.local & other.names
                    or self.imports.keys() & other.names
                    or any(other.imports.get(name, whole) != whole for name, whole in self.imports.items()))


def written_here(source):
    path = pathlib.Path(source)
    return path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in ("src", "simgpu", "tests", "bench")


def grouped(paths):
    groups = []
    for source in map(Source, paths):
        if source.alone:
            continue
        for members in groups:
            if len(members) < LARGEST and all(source.bears(member) for member in members):
                members.append(source)
                break
        else:
            groups.append([source])
    return [[member.path for member in members] for members in groups if len(members) > 1]


def main():
    targets = [line.rstrip("\n").split("\t") for line in sys.stdin if line.strip()]
    times = collections.Counter(source for _, *sources in targets for source in set(sources))
    for target, *sources in targets:
        for members in grouped([s for s in sources if times[s] == 1 and s.endswith(".cpp") and written_here(s)]):
            print("\t".join([target, *members]))


if __name__ == "__main__":
    main()
