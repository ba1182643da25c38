"""The project's pages as tests see them: code blocks with the markers before them, commands, spans of code, links, anchors.

A page says in an HTML comment, which no reader sees, what a test has to know of the code block that follows:

    <!-- not run: REASON -->            its commands are checked against the programs' options, and not run
    <!-- not run [BEGINNING]: REASON -->   the same for the commands that begin so
    <!-- status 1 [BEGINNING]: REASON -->   this command ends with another status than 0 (the bracket may be left out)
    <!-- goes on [BEGINNING]: REASON -->   this command ends by Ctrl-C only
    <!-- needs python MODULE: REASON -->   run where a Python that has it is at hand; `needs program NAME` likewise
    <!-- file: NAME -->                 the block is a file of that name in the folder where the page's commands run
    <!-- gpus: NAMES -->               of the whole page: which GPUs are simulated (v100 where nothing is said)
    <!-- pace: N -->                   of the whole page: N simulated seconds a second (40); 1 where programs do real work
    <!-- tested by: PATH -->            the whole page is compared with real runs by that test
"""

import dataclasses
import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# What a line of a code block begins with where it is a command; other lines are output, tables, formulas.
PROGRAMS = {
    "rubato", "rubatod", "rubato-exporter", "sudo", "cmake", "ctest", "python3", "python", "tar", "docker", "install", "echo",
    "systemctl", "systemd-tmpfiles", "export", "mkdir", "nvidia-smi", "apt", "apt-get", "dpkg", "pip", "srun", "sbatch", "scontrol",
    "curl", "ninja", "cc", "gcc", "g++", "clang-format-14", "git", "ninja", "touch", "rm", "cp", "cat", "grep", "torchrun", "rpm", "dnf",
}
COMMAND = re.compile(r"(\$ |\./|~/|tools/|build/|[A-Z_]+=[^=\s]\S* )|([\w.-]+)(\s|$)")
MARKER = re.compile(r"<!-- (not run|goes on|status \d+|file|tested by|gpus|pace|needs \w+ \w+)(?: \[(.*?)\])?: (.*?) -->")
ROOMS = "bench|cmake|docs|examples|gpus|include|inject|integrations|python|simgpu|src|tests|tools|web|workloads"


@dataclasses.dataclass
class Marker:
    kind: str
    beginning: str
    text: str
    line: int
    used: bool = False

    def covers(self, command):
        return command.startswith(self.beginning)


@dataclasses.dataclass
class Command:
    text: str
    line: int
    output: list  # the lines shown under it; None where the page shows none
    not_run: str = ""
    status: int = 0
    goes_on: bool = False
    needs: list = dataclasses.field(default_factory=list)  # ("python", "torch")


@dataclasses.dataclass
class Block:
    line: int
    language: str
    lines: list
    markers: list = dataclasses.field(default_factory=list)

    def name(self):
        return next((m.text for m in self.markers if m.kind == "file"), None)

    def commands(self):
        """Its commands in order; empty where it is something else."""
        if self.language not in ("", "sh", "console") or self.name():
            return []
        prompts = any(line.startswith("$ ") for line in self.lines)
        found = []
        for at, line in enumerate(self.lines):
            if prompts and not line.startswith("$ "):
                if found:
                    found[-1].output.append(line)
            elif line.startswith("$ "):
                found.append(Command(line[2:], self.line + at, []))
            elif found and found[-1].text.endswith("\\"):
                found[-1].text = found[-1].text[:-1] + line.strip()
            elif is_command(line):
                found.append(Command(line, self.line + at, None))
        for command in found:
            self._mark(command)
        return found

    def _mark(self, command):
        for marker in self.markers:
            if not marker.covers(command.text):
                continue
            marker.used = True
            if marker.kind == "not run":
                command.not_run = marker.text
            elif marker.kind == "goes on":
                command.goes_on = True
            elif marker.kind.startswith("needs "):
                command.needs.append(tuple(marker.kind.split()[1:]))
            elif marker.kind.startswith("status "):
                command.status = int(marker.kind.split()[1])


def is_command(line):
    match = COMMAND.match(line)
    return bool(match) and (match.group(1) is not None or match.group(2) in PROGRAMS)


class Page:
    def __init__(self, path, text=None):
        self.path = pathlib.Path(path)
        self.name = str(self.path.relative_to(SOURCE))
        self.lines = (self.path.read_text() if text is None else text).splitlines()
        self.blocks, self.prose, self.tested_by = [], [], None
        self.gpus, self.pace = "v100", 40.0
        self._read()

    def _read(self):
        markers, block, fence = [], None, None
        before = ""
        for number, line in enumerate(self.lines, 1):
            if fence is not None:
                if line.strip() == "```":
                    fence, block = None, None
                else:
                    block.lines.append(line)
                continue
            opened = re.match(r"```(\w*)$", line)
            # An indented block needs an empty line before it; else the line goes on with the paragraph or the list.
            indented = line.startswith("    ") and (block is not None or before.strip() == "" or MARKER.match(before))
            if opened or indented:
                if opened or block is None:
                    block = Block(number + (1 if opened else 0), opened.group(1) if opened else "", [], markers)
                    self.blocks.append(block)
                    markers = []
                if opened:
                    fence = line
                else:
                    block.lines.append(line[4:])
            elif block is not None and line.strip() == "":
                block.lines.append("")
            else:
                block = None
                marker = MARKER.fullmatch(line.strip())
                if marker and marker.group(1) == "tested by":
                    self.tested_by = marker.group(3)
                elif marker and marker.group(1) == "gpus":
                    self.gpus = marker.group(3)
                elif marker and marker.group(1) == "pace":
                    self.pace = float(marker.group(3))
                elif marker:
                    markers.append(Marker(marker.group(1), marker.group(2) or "", marker.group(3), number))
                elif line.strip():
                    markers = []
                    self.prose.append((number, line))
            before = line

    def commands(self):
        return [command for block in self.blocks for command in block.commands()]

    def stale_markers(self):
        """Markers that say something about no command: left over from one that was changed."""
        self.commands()
        return [m for block in self.blocks for m in block.markers if m.kind != "file" and not m.used]

    def spans(self):
        """Code in the running text and in tables, as (line number, code)."""
        text = "\n".join(line for _, line in self.prose)
        numbers = [number for number, _ in self.prose]
        for match in re.finditer(r"(?<!`)`([^`]+?)`(?!`)", text):
            code = match.group(1).replace("\n", " ").replace("\\|", "|")
            yield numbers[text.count("\n", 0, match.start())], code

    def links(self):
        """Targets of links and pictures, as (line number, target); code is left out."""
        text = re.sub(r"`[^`]*`", lambda m: " " * len(m.group()), "\n".join(line for _, line in self.prose))
        numbers = [number for number, _ in self.prose]
        for match in re.finditer(r"\]\(([^)\s]+)\)|<img[^>]* src=\"([^\"]+)\"", text):
            yield numbers[text.count("\n", 0, match.start())], match.group(1) or match.group(2)

    def anchors(self):
        """What a link may name behind #: headings as GitHub makes anchors of them."""
        found, seen = set(), {}
        for _, line in self.prose:
            found.update(re.findall(r"<a id=\"([\w-]+)\">", line))
            heading = re.match(r"#{1,6} +(.*)", line)
            if not heading:
                continue
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).replace("`", "")
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            times = seen.get(slug, 0)
            seen[slug] = times + 1
            found.add(slug if times == 0 else f"{slug}-{times}")
        return found

    def files_named(self):
        """Files of this project that the text names by their path from its root, as (line number, path)."""
        for number, line in [*self.prose, *((b.line + i, text) for b in self.blocks for i, text in enumerate(b.lines))]:
            line = re.sub(r"\]\([^)]*\)|https?://\S+", "", line)
            for match in re.finditer(rf"(?<![\w./~-])((?:{ROOMS})/[\w./*-]*\w)(?![\w*…/]|-[A-Z]|\.…)", line):
                if "NAME" not in match.group(1):
                    yield number, match.group(1)


def all_pages():
    found = [SOURCE / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
    for folder in ("docs", "docs/frameworks", "docs/evidence", "bench", "examples/benchmarks"):
        found += sorted((SOURCE / folder).glob("*.md"))
    return [Page(path) for path in found]
