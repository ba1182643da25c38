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
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)


def names_of(text):
    names = {"#" + name for name in MACRO.findall(text)}
    depth = 0
    for line in text.splitlines():
        if line == "namespace {":
            depth += 1
        elif line == "}  // namespace":
            depth -= 1
        elif depth > 0 or line.startswith("static "):
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
        for line in header.read_text(encoding="utf-8").splitlines():
            if found := TYPE.match(line) or ALIAS.match(line) or CONSTANT.search(line):
                names.add(found[1])
    return names


def room_of(source):
    """The folder two below the project's: what other rooms call something is in another namespace."""
    return ROOT.joinpath(*pathlib.Path(source).relative_to(ROOT).parts[:2])


def grouped(sources):
    groups = []
    for source in sources:
        text = pathlib.Path(source).read_text(encoding="utf-8")
        names, local = names_of(text), {name for line in text.splitlines() if line.startswith(" ") for name in CONSTANT.findall(line)}
        # What asks for other declarations of the system headers, or has a main, must come first or alone.
        if (names | local) & header_names(room_of(source)) or re.search(r"^#\s*define _|^int main\(", text, re.M):
            continue
        for members, taken, inside in groups:
            if len(members) < LARGEST and not (names & taken or names & inside or local & taken):
                members.append(source)
                taken |= names
                inside |= local
                break
        else:
            groups.append(([source], names, local))
    return [members for members, *_ in groups if len(members) > 1]


def main():
    targets = [line.rstrip("\n").split("\t") for line in sys.stdin if line.strip()]
    times = collections.Counter(source for _, *sources in targets for source in set(sources))
    for target, *sources in targets:
        for members in grouped([s for s in sources if times[s] == 1 and s.endswith(".cpp")]):
            print("\t".join([target, *members]))


if __name__ == "__main__":
    main()
