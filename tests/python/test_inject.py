"""The injected sitecustomize: what a program sees of it, which is nothing."""

import shutil
import subprocess
import sys

import jobs

# A framework of two files, in the place of a real one: hooks are found by name only.
TORCH = {
    "torch/__init__.py": """
        __version__ = "9.9"
        from . import optim, nn, utils, serialization, amp
        """,
    "torch/optim/__init__.py": "from .optimizer import Optimizer\n",
    "torch/optim/optimizer.py": """
        _hooks = []
        def register_optimizer_step_post_hook(hook): _hooks.append(hook)
        class Optimizer:
            def __init__(self, params=()): pass
            def step(self):
                for hook in _hooks: hook(self, (), {})
        """,
    "torch/nn/__init__.py": """
        class Module:
            training = True
            def train(self, mode=True): self.training = mode; return self
        """,
    "torch/utils/__init__.py": "from . import data\n",
    "torch/utils/data/__init__.py": "from . import dataloader\n",
    "torch/utils/data/dataloader.py": """
        class _BaseDataLoaderIter:
            def __init__(self, loader): pass
            def __next__(self): raise StopIteration
        """,
    "torch/serialization.py": """
        class _opener:
            def __enter__(self): return self
            def __exit__(self, *args): pass
        class _open_zipfile_writer_file(_opener):
            def __exit__(self, *args): pass
        class _open_zipfile_writer_buffer(_opener):
            def __exit__(self, *args): pass
        """,
    "torch/amp/__init__.py": """
        class GradScaler:
            def step(self, optimizer): return optimizer.step()
        """,
}

TRAIN = """
import torch
optimizer = torch.optim.Optimizer()
for _ in range(4): optimizer.step()
"""


class Inject(jobs.JobTest):
    def setUp(self):
        super().setUp()
        for name, text in TORCH.items():
            self.write("site/" + name, text)
        self.site = self.folder / "site"

    def train(self, program=TRAIN, iterations=4, **more):
        result = self.run_job(program, path=[self.site, *more.pop("path", [])], **more)
        self.assertEqual((result.code, result.err), (0, ""), result.log)
        self.assertEqual(len(result.of("iteration end")), iterations)
        return result

    def test_a_framework_is_hooked_when_it_is_imported(self):
        self.assertEqual([mark.name for mark in self.train().of("hook")], ["torch 9.9"])

    def test_nothing_is_imported_and_no_ring_made_for_a_program_without_framework(self):
        program = "import sys; print(*sorted(sys.modules))"
        result = self.run_job(program)
        more = set(result.out.split()) - set(self.run_job(program, hooks=False).out.split())
        self.assertEqual(more - {"sitecustomize"}, {"_rubato", "_rubato._hooks"})
        self.assertEqual(result.marks, [])

    def test_off_switches_all_hooks_off_and_a_list_selects(self):
        off = self.train(iterations=0, RUBATO_HOOKS="off")
        self.assertEqual(off.marks, [])
        self.assertEqual(self.train(iterations=0, RUBATO_HOOKS="keras,jax").marks, [])
        self.train(RUBATO_HOOKS="torch, keras")

    def test_a_hook_of_no_such_name_is_told_with_those_there_are(self):
        told = "RUBATO_HOOKS names no hook with bogus; there are: off, or jax, keras, lightning, mlflow, "
        told += "pytorch_lightning, tensorflow, tf_keras, torch, trackers, transformers, wandb"
        result = self.train(RUBATO_HOOKS="bogus, torch", problems=[told])
        self.assertEqual(result.log, told + "\n")

    def test_the_users_sitecustomize_runs_as_if_alone(self):
        text = (
            "import sys\nprint(__name__, __file__, __spec__.name, sys.modules[__name__].__file__)\nhere = 1"
        )
        self.write("own/sitecustomize.py", text)
        own = self.folder / "own"
        program = "import sitecustomize as s, sys; print(s.here, any('inject' in path for path in sys.path))"
        with_hooks = self.run_job(program, path=[own])
        self.assertEqual(with_hooks.out, self.run_job(program, path=[own], hooks=False).out)
        self.assertIn(str(own), with_hooks.out)

    def test_its_errors_are_shown_as_python_shows_them(self):
        for text in ("raise ValueError('of its own')", "import nothing_of_that_name", "def broken("):
            with self.subTest(text):
                self.write("own/sitecustomize.py", text)
                seen = [
                    self.run_job("print('on')", path=[self.folder / "own"], hooks=on) for on in (True, False)
                ]
                self.assertEqual(
                    (seen[0].out, seen[0].err, seen[0].code), (seen[1].out, seen[1].err, seen[1].code)
                )

    def test_one_that_exits_ends_the_program_as_ever(self):
        self.write("own/sitecustomize.py", "raise SystemExit(3)")
        seen = [self.run_job("print('on')", path=[self.folder / "own"], hooks=on) for on in (True, False)]
        self.assertEqual((seen[0].out, seen[0].code), (seen[1].out, seen[1].code))
        self.assertEqual(seen[0].err.splitlines()[-1], seen[1].err.splitlines()[-1])

    def test_where_there_is_none_importing_it_fails_as_ever(self):
        program = "try: import sitecustomize\nexcept ImportError as e: print(e.name)\nelse: print('one')"
        command = ["-S", "-c", "import site; site.main()\n" + program]
        seen = [self.run_job(command, hooks=on).out for on in (True, False)]
        self.assertEqual(seen[0], seen[1])

    def test_children_are_hooked_however_they_are_started(self):
        self.write(
            "work.py",
            "def work(*_):\n" + "".join("    " + line + "\n" for line in TRAIN.strip().splitlines()),
        )
        start = "import subprocess, sys\n"
        start += "subprocess.check_call([sys.executable, '-c', 'import work; work.work()'])"
        self.train(start, path=[self.folder])
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                self.train(f"""
                    import multiprocessing, work
                    if __name__ == "__main__":
                        context = multiprocessing.get_context("{method}")
                        with context.Pool(2, maxtasksperchild=1) as pool:
                            pool.map(work.work, range(2), chunksize=1)
                """, path=[self.folder], iterations=8)  # fmt: skip

    def test_reloading_and_lazy_loading_and_looking_only(self):
        self.train(
            TRAIN + "import importlib; importlib.reload(torch)\nfor _ in range(2): optimizer.step()",
            iterations=6,
        )
        self.train("""
            import importlib.util, sys
            spec = importlib.util.find_spec("torch")
            assert type(spec.loader).__name__ == "SourceFileLoader" and spec.loader.get_source("torch")
            spec.loader = importlib.util.LazyLoader(spec.loader)
            torch = importlib.util.module_from_spec(spec)
            sys.modules["torch"] = torch
            spec.loader.exec_module(torch)
            optimizer = torch.optim.Optimizer()
            for _ in range(4): optimizer.step()
        """)
        self.assertEqual(
            self.train("import importlib.util; importlib.util.find_spec('torch')", iterations=0).marks, []
        )

    def test_many_threads_importing_at_once_hook_once(self):
        result = self.train("""
            import threading
            def run(): import torch
            threads = [threading.Thread(target=run) for _ in range(8)]
            [t.start() for t in threads]; [t.join() for t in threads]
        """ + TRAIN.replace("\n", "\n            "))
        self.assertEqual(len(result.of("hook")), 1)

    def test_a_framework_that_a_pth_file_imported_first_is_hooked(self):
        code = f"import sys; sys.path.insert(0, {str(self.site)!r})\n"
        code += f"import torch, site; site.execsitecustomize()\n{TRAIN}"
        result = self.run_job(["-S", "-c", code])
        self.assertEqual(len(result.of("iteration end")), 4, result.err)

    def test_in_a_virtual_environment(self):
        made = subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", self.folder / "venv"], check=False
        )
        if made.returncode != 0:
            self.skipTest("no virtual environment can be made here")
        self.train(python=self.folder / "venv" / "bin" / "python")

    def test_a_framework_that_fails_to_import_fails_as_ever(self):
        self.write("site/torch/__init__.py", "raise RuntimeError('broken build')")
        program = "try: import torch\nexcept RuntimeError as e: print(e)"
        self.assertEqual(self.train(program, iterations=0).out, "broken build\n")

    def test_a_hook_that_fails_is_told_and_leaves_the_program_alone(self):
        self.write("site/torch/nn/__init__.py", "class Module: __slots__ = ()\n")
        self.write("site/torch/amp/__init__.py", "")
        result = self.train(problems=None)
        problems = [mark.name for mark in result.of("problem")]
        self.assertEqual(len(problems), 1)
        self.assertIn("the torch hook goes without scaler (AttributeError: ", problems[0])
        self.assertIn("Traceback", result.log)

    def test_a_job_whose_loader_cannot_be_watched_goes_on(self):
        result = self.train("""
            import importlib.machinery, sys
            class Loader:
                __slots__ = ()
                def create_module(self, spec): return None
                def exec_module(self, module): module.ready = True
            class Finder:
                def find_spec(self, name, path, target=None):
                    if name == "jax": return importlib.machinery.ModuleSpec(name, Loader())
            sys.meta_path.insert(1, Finder())
            import jax
            print(jax.ready)
        """, iterations=0, problems=None)  # fmt: skip
        self.assertEqual(result.out, "True\n")

    def test_a_foreign_rubato_and_an_installed_one_stay_what_they_are(self):
        self.write("site/rubato/__init__.py", "foreign = True")
        result = self.train(TRAIN + "import rubato; print(rubato.foreign, rubato.__file__)")
        self.assertEqual(result.out, f"True {self.site}/rubato/__init__.py\n")
        shutil.rmtree(self.site / "rubato")
        (self.folder / "rubato").mkdir()  # a folder beside the program is no package
        self.assertEqual(self.train(TRAIN + "import rubato; print(rubato.__version__)").out, "0+source\n")

    def own_copy(self):
        """The package in a folder that may be written to; to be given as the path of a job."""
        shutil.copytree(jobs.PYTHON, self.folder / "python", ignore=shutil.ignore_patterns("__pycache__"))
        return {"hooks": False, "path": [self.folder / "python/inject", self.site], "PYTHONDONTWRITEBYTECODE": ""}

    def kept(self):
        return {path.name.partition(".")[0]: path for path in self.folder.glob("python/*/**/*.pyc")}

    def test_byte_code_that_was_cut_short_is_passed_over_and_made_anew(self):
        ours = self.own_copy()
        program = TRAIN + "import rubato; rubato.window"
        for cut in (17, 300, 1000):
            self.assertEqual(len(self.run_job(program, **ours).of("iteration end")), 4)
            kept = self.kept()
            self.assertLessEqual({"torch_hook", "_steps", "_marks", "windows", "__init__"}, set(kept))
            # A longer path makes it larger: there is room for one.
            self.assertLess(kept.pop("sitecustomize").stat().st_size, 512)
            for path in kept.values():
                with open(path, "r+b") as file:
                    file.truncate(cut)
            result = self.run_job(program, **ours)
            self.assertEqual((result.code, result.err, result.log), (0, "", ""))
            self.assertEqual(len(result.of("iteration end")), 4)

    def test_none_is_kept_where_files_may_not_grow(self):
        limited = self.write("limited", f'#!/bin/sh\nulimit -f 1 && exec {sys.executable} "$@"\n')
        limited.chmod(0o755)
        result = self.run_job("import rubato; print(rubato.__version__)", python=limited, **self.own_copy())
        self.assertEqual((result.code, result.err, result.out), (0, "", "0+source\n"))
        self.assertEqual(set(self.kept()), {"sitecustomize"})

    def test_hooks_that_cannot_be_imported_say_so_and_leave_the_program_alone(self):
        ours = self.own_copy()
        self.write("python/rubato/_hooks/__init__.py", "import nothing_of_that_name")
        result = self.run_job(TRAIN + "print('went on')", **ours)
        self.assertEqual((result.code, result.err, result.out), (0, "", "went on\n"))
        why = "ModuleNotFoundError: No module named 'nothing_of_that_name'"
        self.assertIn(f"rubato's hooks could not be started ({why})", result.log)
        self.assertIn("Traceback", result.log)
        self.assertEqual((self.folder / f"marks{self.runs}/hooks.failed").read_text(), why + "\n")

    def test_flags_that_shut_the_environment_out_shut_hooks_out(self):
        for flag in ("-I", "-S", "-E"):
            result = self.run_job(
                [flag, "-c", f"import sys; sys.path.insert(0, {str(self.site)!r})\n{TRAIN}"]
            )
            self.assertEqual((result.code, result.marks), (0, []), result.err)
