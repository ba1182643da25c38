"""rubato.runs() and rubato.load() on the record of a real run on a simulated GPU."""

import os
import subprocess
import sys
import unittest

import jobs


class Frames(jobs.JobTest):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        try:
            cls.python = jobs.venv("torch2", "pandas")
        except unittest.SkipTest:
            cls.python = jobs.python_with(sys.executable, "pandas")
        cls.binary = jobs.built("rubato", "export")

    def test_a_run_becomes_frames_in_seconds_with_units_and_types(self):
        state = {
            "RUBATO_BINARY": str(self.binary),
            "RUBATO_SIM_WORLD": str(self.folder / "world"),
            "XDG_RUNTIME_DIR": str(self.folder),
            "XDG_STATE_HOME": str(self.folder / "state"),
        }
        rubato = str(self.binary)
        done = subprocess.run(
            [rubato, "measure", "--gpu", "sim:v100", "--quiet", "--"]
            + [rubato, "sim", "train", "resnet50", "--iterations", "8"],
            env={**os.environ, **state}, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        result = self.run_job(
            """
            import rubato
            runs = rubato.runs()
            run = rubato.load("last")
            assert list(runs.index) == [run.id] and runs.duration_s.dtype == "float64", runs
            assert str(runs.started_at.dtype).endswith("UTC]"), runs.dtypes
            samples = run.samples
            assert samples.index.name == "time_s" and samples.index.is_monotonic_increasing
            assert (samples.power_w.dtype, samples.gpu.dtype) == ("float64", "Int64"), samples.dtypes
            assert 0 < run.power[0].mean() < 400
            iterations = run.iterations
            assert iterations.index.name == "begin_s" and iterations.iteration.dtype == "Int64"
            assert 0.1 < iterations.duration_s.median() < 2 and len(iterations) >= 6, iterations
            assert run.decisions.why.dtype == "string"
            marks = run.marks
            assert (marks.id.dtype, marks.detail_0.dtype) == ("UInt64", "UInt64"), marks.dtypes
            model = marks[marks.mark == "model"].iloc[0]
            assert (model["name"], model.id, model.detail_0) == ("resnet50", 16877474089224050737, 25557032), model
            from rubato.frames import SERIES
            for series in SERIES: getattr(run, series)
            expected = run.expectations
            assert len(expected) == 0 and (expected.time_ratio.dtype, expected.measured.dtype) == ("float64", "Int64"), expected.dtypes
            assert any(run.id in fact for fact in samples.attrs["facts"]), samples.attrs
            assert run.report["schema"] == "rubato.run/1"
            try: run.nonsense
            except AttributeError as error: print(error)
            try: rubato.load("none-of-this-name")
            except RuntimeError as error: print(error)
            """,
            python=self.python,
            hooks=False,
            path=[jobs.PYTHON],
            **state,
        )
        self.assertEqual((result.code, result.err), (0, ""), result.err)
        self.assertIn("not 'nonsense'", result.out)
        self.assertIn("none-of-this-name", result.out)
