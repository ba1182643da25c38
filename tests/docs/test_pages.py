"""Pages say what is there: links, anchors, pictures, files they name, commands and options, and blocks of JSON, TOML, Python."""

import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import pages  # noqa: E402
import programs  # noqa: E402

# Options of other programs that pages name alone: nvidia-smi, srun.
OF_OTHERS = {"--query-gpu", "--query-compute-apps", "--gpu-freq", "--gpus-per-task", "--rubato"}


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pages = pages.all_pages()
        cls.of = {page.path: page for page in cls.pages}

    def each(self, find):
        """Fails with every place of every page that `find` complains about."""
        said = [f"{page.name}:{line}: {what}" for page in self.pages for line, what in find(page)]
        self.assertEqual(said, [], "\n" + "\n".join(said))

    def test_links_and_pictures_lead_somewhere(self):
        def find(page):
            for line, target in page.links():
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                path = (page.path.parent / name).resolve() if name else page.path
                if not path.exists():
                    yield line, f"there is no {target}"
                elif anchor and path in self.of and anchor not in self.of[path].anchors():
                    yield line, f"{name or 'this page'} has no heading for #{anchor}"

        self.each(find)

    def test_files_that_are_named_exist(self):
        def find(page):
            for line, path in page.files_named():
                if not any(pages.SOURCE.glob(path)) and not any((pages.SOURCE / "src").glob(path)):
                    yield line, f"there is no {path}"

        self.each(lambda page: () if page.name == "CHANGELOG.md" else find(page))

    def test_pages_that_programs_name_exist(self):
        said = []
        for folder in ("src", "tools", "python", "integrations", "web/src", "include", "bench", "inject", "simgpu"):
            for path in (pages.SOURCE / folder).rglob("*"):
                if not path.is_file() or path.suffix not in (".cpp", ".h", ".py", ".js", ".ts", ".toml", ".service", ".sh", ""):
                    continue
                text = path.read_text(errors="replace")
                for name, anchor in re.findall(r"\bdocs/([\w/-]+\.md)(#[\w-]+)?", text):
                    page = self.of.get(pages.SOURCE / "docs" / name)
                    if page is None or (anchor and anchor[1:] not in page.anchors()):
                        said.append(f"{path.relative_to(pages.SOURCE)}: there is no docs/{name}{anchor}")
        self.assertEqual(said, [], "\n" + "\n".join(said))

    def test_commands_and_options_in_blocks_exist(self):
        def find(page):
            for command in page.commands():
                try:
                    for said in programs.complaints_of_line(command.text):
                        yield command.line, said
                except ValueError as error:
                    yield command.line, f"no line for a shell: {error}"

        self.each(find)

    def test_commands_and_options_in_sentences_exist(self):
        known = programs.all_options()

        def beside(page, option):
            """Whether a program that lies beside the page has it, or one of ours for developers."""
            files = [pages.SOURCE / "check", *(f for f in (pages.SOURCE / "tools").glob("*") if f.is_file()),
                     *(pages.SOURCE / "integrations/slurm").glob("*.cpp"), *(pages.SOURCE / "bench").glob("*/*.cpp")]
            if page.path.parent.name != "docs":
                files += [f for f in page.path.parent.rglob("*") if f.suffix in (".py", ".cpp")]
            return any(option in f.read_text() for f in files)

        def find(page):
            for line, code in page.spans():
                for said in programs.complaints_of_span(code):
                    yield line, said
                option = re.match(r"--[a-z][a-z0-9-]*", code)
                if option and option.group() not in known | OF_OTHERS and not beside(page, option.group()):
                    yield line, f"no program of rubato has an option {option.group()}"

        # The history names what was, and the comparisons what others have.
        self.each(lambda page: () if page.name == "CHANGELOG.md" or page.name.startswith("docs/from-") else find(page))

    def test_examples_of_the_manual_keep_to_it(self):
        for command in programs.manual():
            if not command.startswith("rubato ") or command == "rubato guard":
                continue
            shown = subprocess.run([programs.RUBATO, *command.split()[1:], "--help"], capture_output=True, text=True, check=True).stdout
            for line in shown.partition("Examples:")[2].splitlines():
                if line.startswith("  rubato"):
                    self.assertEqual(programs.complaints_of_line(line.strip()), [], line)

    def test_blocks_that_name_their_language_are_in_it(self):
        def find(page):
            for block in page.blocks:
                text = "\n".join(block.lines)
                try:
                    if block.language == "json":
                        json.loads(text)
                    elif block.language == "toml":
                        try:
                            import tomllib
                        except ImportError:
                            continue
                        tomllib.loads(text)
                    elif block.language == "python":
                        compile(text, page.name, "exec")
                except ValueError as error:
                    yield block.line, f"is no {block.language}: {error}"
                except SyntaxError as error:
                    yield block.line, f"is no Python: {error}"

        self.each(find)

    def test_the_table_of_boards_is_what_the_profiles_say(self):
        done = subprocess.run([sys.executable, pages.SOURCE / "tools" / "gpu-notes", "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_every_page_is_in_the_index(self):
        for folder in ("docs", "docs/frameworks", "docs/evidence"):
            index = self.of[pages.SOURCE / folder / "README.md"]
            linked = {(index.path.parent / target.partition("#")[0]).resolve() for _, target in index.links()}
            missing = [p.name for p in self.pages if p.path.parent == index.path.parent and p.path not in linked | {index.path}]
            self.assertEqual(missing, [], f"{folder}/README.md leads to every page in its folder, by the question it answers")

    def test_markers_say_something_of_a_command_that_is_there(self):
        def find(page):
            for marker in page.stale_markers():
                yield marker.line, f"no command below begins with '{marker.beginning}'"
            if page.tested_by and not (pages.SOURCE / page.tested_by).exists():
                yield 1, f"there is no {page.tested_by}"
            for block in page.blocks:
                for marker in block.markers:
                    if marker.kind != "file" and len(marker.text.split()) < 2:
                        yield marker.line, "a reason, please"

        self.each(find)


class Reading(unittest.TestCase):
    """The reader of pages itself."""

    def page(self, text):
        return pages.Page(pages.SOURCE / "docs" / "made-up.md", text)

    def test_commands_of_indented_and_fenced_blocks(self):
        page = self.page("# A\n\n    rubato runs   # x\n    not a command\n\n```sh\nrubato show last\n```\n\n    $ rubato top --once\n    W\n")
        self.assertEqual([c.text for c in page.commands()], ["rubato runs   # x", "rubato show last", "rubato top --once"])
        self.assertEqual(page.commands()[2].output, ["W"])

    def test_a_marker_is_for_the_next_block_only(self):
        page = self.page("<!-- not run [rubato top]: needs a terminal -->\n\n    rubato top\n    rubato runs\n\nword\n\n    rubato top\n")
        self.assertEqual([bool(c.not_run) for c in page.commands()], [True, False, False])
        self.assertEqual(self.page("<!-- not run: why so -->\n\nword\n\n    rubato top\n").commands()[0].not_run, "")

    def test_a_marker_of_no_command_is_stale(self):
        self.assertEqual(len(self.page("<!-- not run [rubato x]: it is so -->\n\n    rubato runs\n").stale_markers()), 1)

    def test_anchors_are_those_of_github(self):
        self.assertEqual(self.page("# C and C++\n\n## `a` b, c\n\n## `a` b, c\n").anchors(), {"c-and-c", "a-b-c", "a-b-c-1"})

    def test_options_and_commands_that_do_not_exist_are_told(self):
        for line in ("rubato walk", "rubato run --fast -- x", "sudo rubato measure --limit 3", "x | rubato model teach y",
                     "rubato export --format pdf", "rubato run -- rubato sim train resnet50 --steps 3", "rubatod --rules x"):
            self.assertEqual(len(programs.complaints_of_line(line)), 1, line)
        for line in ("rubato run --power-limit 150 -- python3 train.py --fast", "FOO=1 rubato top --once > x", "rubato help run",
                     "LD_LIBRARY_PATH=x nvidia-smi --query-gpu x", "rubato completion bash"):
            self.assertEqual(programs.complaints_of_line(line), [], line)


if __name__ == "__main__":
    unittest.main()
