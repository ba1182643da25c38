"""Energy of epochs in the trackers that a job uses: against stand-ins that print what they are told."""

import json
import os
import pathlib
import subprocess
import sys
import time

import jobs

HERE = pathlib.Path(__file__).parent

STAND_INS = {
    "tensorboardX/__init__.py": "from .writer import SummaryWriter\n",
    "tensorboardX/writer.py": """
        class SummaryWriter:
            def __init__(self, name="tb"): self.name, self.file_writer = name, object()
            def add_scalar(self, name, value, step):
                if self.name == "broken": raise OSError("disk full")
                print(self.name, step, name, round(value, 3))
            def close(self): self.file_writer = None
        """,
    "wandb.py": """
        class Run:
            id = "r1"
            def log(self, values, step=None, commit=None):
                print("wandb", step, commit, sorted(values.items())[1:3])
            def define_metric(self, name, step_metric=None): print("axis", name, step_metric)
        run = None
        def init():
            global run
            run = Run()
        """,
    "mlflow/__init__.py": """
        import types
        from . import entities, tracking
        def active_run(): return types.SimpleNamespace(info=types.SimpleNamespace(run_id="m1"))
        """,
    "mlflow/entities.py": """
        class Metric:
            def __init__(self, key, value, timestamp, step): self.text = f"{step} {key} {value:.1f}"
        """,
    "mlflow/tracking.py": """
        import os, threading
        class MlflowClient:
            def log_batch(self, run_id, metrics):
                if os.environ.get("MLFLOW_IS") == "silent": threading.Event().wait(60)
                if os.environ.get("MLFLOW_IS") == "gone":
                    print("asked")
                    raise ConnectionError("no server")
                print("mlflow", run_id, metrics[0].text)
        """,
}

EPOCHS = """
    import boards, rubato
    def train(epochs, joules=42.0, **board):
        for epoch in range(epochs):
            boards.write({"GPU-a": (100.0 + joules * epoch, 0.0)}, **board)
            with rubato.epoch():
                boards.write({"GPU-a": (100.0 + joules * (epoch + 1), 0.0)}, **board)
"""


class TrackerTest(jobs.JobTest):
    def setUp(self):
        super().setUp()
        for name, text in STAND_INS.items():
            self.write("site/" + name, text)


class StandIns(TrackerTest):
    def program(self, text, **more):
        result = self.run_job(EPOCHS + text, path=[self.folder / "site", HERE, jobs.PYTHON], **more)
        self.assertEqual((result.code, result.err), (0, ""), result.log)
        return result

    def energies(self, result):
        return [line for line in result.out.splitlines() if "epoch_energy_j" in line]

    def test_each_tracker_in_use_gets_each_epoch(self):
        result = self.program("""
    import mlflow, tensorboardX, wandb
    writer = tensorboardX.SummaryWriter()
    wandb.init()
    train(2)
""")
        self.assertEqual(sorted(self.energies(result)), [
            "mlflow m1 0 rubato/epoch_energy_j 42.0", "mlflow m1 1 rubato/epoch_energy_j 42.0",
            "tb 0 rubato/epoch_energy_j 42.0", "tb 1 rubato/epoch_energy_j 42.0",
            "wandb None False [('rubato/epoch', 0), ('rubato/epoch_energy_j', 42.0)]",
            "wandb None False [('rubato/epoch', 1), ('rubato/epoch_energy_j', 42.0)]",
        ])  # fmt: skip
        self.assertIn("tb 1 rubato/energy_j 184.0", result.out)

    def test_a_program_without_tracker_loads_nothing(self):
        result = self.program("""
    import sys
    train(2)
    print([name for name in sys.modules if "_scalars" in name or "_board" in name])
""")
        self.assertEqual(result.out, "[]\n")
        self.assertEqual(len(result.of("epoch end")), 2)

    def test_a_simulated_gpu_is_named_so_and_its_clock_counts(self):
        result = self.program("""
    import tensorboardX, time
    writer = tensorboardX.SummaryWriter()
    boards.write({"GPU-a": (0.0, 50.0), "GPU-b": (0.0, 50.0)}, rate=3.0, flags=7)
    with rubato.epoch():
        time.sleep(0.05)
        boards.write({"GPU-a": (1.0, 50.0), "GPU-b": (1.0, 50.0)}, rate=3.0, flags=7)
""")
        lines = dict(line.split()[2:] for line in result.out.splitlines())
        self.assertEqual(len(lines), 3)
        energy = float(lines["rubato/modelled_epoch_energy_j"])
        power = float(lines["rubato/modelled_epoch_mean_power_w"])
        self.assertGreater(energy / power, 0.15)  # seconds of a clock that runs three times as fast
        self.assertLess(energy / power, 3.0)

    def test_what_is_not_known_is_not_logged(self):
        result = self.program("""
    import os, tensorboardX
    writer = tensorboardX.SummaryWriter()
    with rubato.epoch(): pass                       # no board
    boards.write({"GPU-a": (1.0, 1.0)})
    with rubato.epoch(): pass                       # no reading in it
    with rubato.epoch(): boards.path().unlink()     # gone
    train(1, flags=boards.POWER)
    train(1, joules=-5.0)
    os.environ["RANK"] = "1"
    train(1)
    os.environ["RANK"] = "0"
    train(1, joules=7.0)
""")
        self.assertEqual(self.energies(result), ["tb 6 rubato/epoch_energy_j 7.0"])

    def test_an_epoch_has_the_gpus_that_its_begin_and_its_end_have(self):
        result = self.program("""
    import tensorboardX
    writer = tensorboardX.SummaryWriter()
    boards.write({"GPU-a": (100.0, 0.0), "GPU-b": (7000.0, 0.0)})
    with rubato.epoch(): boards.write({"GPU-a": (142.0, 0.0)})                              # never used GPU-b
    with rubato.epoch(): boards.write({"GPU-a": (150.0, 0.0), "GPU-b": (30000.0, 0.0)})     # began to
    with rubato.epoch(): boards.write({"GPU-a": (160.0, 0.0), "GPU-b": (30001.0, 0.0)})
""")
        self.assertEqual(
            self.energies(result), ["tb 0 rubato/epoch_energy_j 42.0", "tb 2 rubato/epoch_energy_j 11.0"]
        )

    def test_a_tracker_that_fails_harms_neither_the_job_nor_the_others(self):
        result = self.program("""
    import mlflow, tensorboardX, wandb
    writer = tensorboardX.SummaryWriter("broken")
    def log(*_, **__): raise RuntimeError("finished")
    wandb.init(); wandb.run.log = log
    train(2)
    print("trained")
""")
        self.assertEqual(len(self.energies(result)), 2)  # MLflow's
        self.assertIn("trained", result.out)

    def test_a_silent_mlflow_server_is_not_waited_for_and_a_failed_one_not_asked_again(self):
        begin = time.monotonic()
        text = """
    import mlflow, time
    begin = time.monotonic()
    train(5)
    print(time.monotonic() - begin < 5)
"""
        self.assertEqual(self.program(text, MLFLOW_IS="silent").out, "True\n")
        self.assertLess(time.monotonic() - begin, 20)
        gone = self.program(text, MLFLOW_IS="gone").out
        self.assertEqual(sorted(set(gone.split())), ["True", "asked"])
        self.assertEqual(gone.count("asked"), 1)

    def test_writers_that_are_closed_or_gone_stay_so_and_the_first_that_is_open_is_used(self):
        result = self.program("""
    import tensorboardX
    names = "closed", "gone", "open", "later"
    closed, gone, open, later = [tensorboardX.SummaryWriter(name) for name in names]
    closed.close()
    del gone
    train(1)
""")
        self.assertEqual(self.energies(result), ["open 0 rubato/epoch_energy_j 42.0"])

    def test_passes_over_data_are_epochs_only_where_they_turn_out_to_be(self):
        result = self.program("""
    import sys, tensorboardX, time
    writer = tensorboardX.SummaryWriter()
    marks, now = sys.modules["_rubato._marks"], time.monotonic_ns
    boards.write({"GPU-a": (0.0, 0.0)})
    training = now(); marks.begin_pass(training)
    boards.write({"GPU-a": (10.0, 0.0)})
    for _ in range(100):
        evaluation = now(); marks.begin_pass(evaluation); marks.no_epoch(evaluation)
    boards.write({"GPU-a": (30.0, 0.0)})
    marks.past_epoch(0, training, now())
    for _ in range(1000): marks.begin_pass(now())   # left early, all of them
    print(len(sys.modules["_rubato._scalars"]._begun))
""")
        self.assertEqual(self.energies(result), ["tb 0 rubato/epoch_energy_j 30.0"])
        self.assertTrue(result.out.endswith("\n64\n"), result.out)

    def test_where_wandb_copies_tensorboard_it_is_told_once(self):
        result = self.program("""
    import tensorboardX, wandb
    wandb.init(); wandb.patched = {"tensorboard": [["tensorboardX.writer", "EventFileWriter"]]}
    writer = tensorboardX.SummaryWriter()
    train(1)
    writer.close()
    train(1)
""")
        self.assertEqual([line.split()[0] for line in self.energies(result)], ["tb", "wandb"])

    def test_trackers_are_chosen_and_left_out_by_name(self):
        text = "\n    import tensorboardX\n    writer = tensorboardX.SummaryWriter()\n    train(1)\n"
        for chosen, count in (("trackers", 1), ("tensorboardX.writer", 1), ("torch,wandb", 0), ("off", 0)):
            with self.subTest(chosen):
                self.assertEqual(len(self.energies(self.program(text, RUBATO_HOOKS=chosen))), count)


class UnderRubato(TrackerTest):
    """The board that rubato itself publishes, against the record of the same run."""

    def test_windows_and_scalars_agree_with_the_record_inside_their_bands(self):
        binary = str(jobs.built("rubato", "measure"))
        job = self.write("job.py", """
            import time
            import rubato, tensorboardX
            writer = tensorboardX.SummaryWriter()
            windows = []
            for epoch in range(2):
                with rubato.epoch(), rubato.window("all of it") as w: time.sleep(1.2)
                windows.append(w)
            for w in windows: print("window", w.joules, w.band_sampling_joules, w.source.split(",")[0])
            """)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("RUBATO_", "PYTHON"))}
        environment.update(
            PYTHONPATH=str(self.folder / "site"),
            RUBATO_SIM_WORLD=str(self.folder / "world"),
            XDG_RUNTIME_DIR=str(self.folder),
            XDG_STATE_HOME=str(self.folder),
        )

        def run(*command):
            return subprocess.run([binary, *command], env=environment, stdout=subprocess.PIPE, text=True,
                                  timeout=120, check=True).stdout  # fmt: skip

        said = run("measure", "--gpu", "sim:v100", "--quiet", "--", sys.executable, str(job))
        lines = [line.split(maxsplit=3) for line in said.splitlines()]
        record = json.loads(run("show", "last", "--json"))
        windows = [line[1:] for line in lines if line[0] == "window"]
        epochs = [float(line[3]) for line in lines if line[2] == "rubato/modelled_epoch_energy_j"]
        self.assertEqual((len(windows), len(epochs)), (2, 2), lines)
        for number, (joules, band, source) in enumerate(windows):
            self.assertEqual(source, "energy board of the run")
            for told, kept in ((float(joules), record["windows"]), (epochs[number], record["epochs"])):
                kept = kept[number]["energy"][0]["energy"]
                self.assertLess(abs(told - kept["energy_j"]), float(band) + kept["band_sampling_j"])
                self.assertGreater(told, 0.7 * kept["energy_j"])
