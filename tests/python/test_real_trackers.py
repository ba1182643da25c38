"""Energy of epochs in TensorBoard, Weights & Biases and MLflow themselves, read back as they read it."""

import json
import pathlib

import jobs
from test_trackers import EPOCHS

HERE = pathlib.Path(__file__).parent

READ_EVENTS = """
    import sys
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray
    events = EventAccumulator(sys.argv[1], size_guidance={"tensors": 0, "scalars": 0}); events.Reload()
    for tag in events.Tags()["scalars"]:
        print(tag, [(e.step, round(e.value, 3)) for e in events.Scalars(tag)])
    for tag in events.Tags()["tensors"]:
        values = [(e.step, make_ndarray(e.tensor_proto)) for e in events.Tensors(tag)]
        print(tag, [(step, round(float(value), 3)) for step, value in values if value.dtype.kind == "f"])
"""


@jobs.full_only
class Real(jobs.JobTest):
    @classmethod
    def setUpClass(cls):
        cls.python = jobs.venv("trackers", "tensorboard", "tensorboardX", "wandb", "mlflow")
        cls.site = next((jobs.SOURCE / "build" / "venvs" / "trackers" / "lib").glob("python3*/site-packages"))

    def program(self, text, python=None, path=(), **more):
        path = [HERE, jobs.PYTHON, *path]
        result = self.run_job(EPOCHS + text, python=python or self.python, path=path, **more)
        self.assertEqual(result.code, 0, result.err)
        return result

    def scalars(self, folder):
        """{tag: what READ_EVENTS prints of it}"""
        files = list(folder.glob("events.out.*"))
        self.assertEqual(len(files), 1, files)
        read = self.run_job(READ_EVENTS, python=self.python, hooks=False, arguments=[str(folder)])
        self.assertEqual(read.code, 0, read.err)
        return dict(line.split(" ", 1) for line in read.out.splitlines())

    def test_tensorboardx_has_them_beside_the_jobs_own(self):
        result = self.program("""
    import tensorboardX
    writer = tensorboardX.SummaryWriter("log")
    for step in range(3): writer.add_scalar("loss", 0.5, step)
    train(2)
    writer.close()
    train(1)
""")
        self.assertEqual((result.out, result.err), ("", ""))
        scalars = self.scalars(self.folder / "log")
        self.assertEqual(scalars.pop("loss"), "[(0, 0.5), (1, 0.5), (2, 0.5)]")
        self.assertEqual(scalars["rubato/epoch_energy_j"], "[(0, 42.0), (1, 42.0)]")
        self.assertEqual(scalars["rubato/energy_j"], "[(0, 142.0), (1, 184.0)]")
        self.assertEqual(len(scalars), 3)

    def test_wandb_offline_has_them_and_the_jobs_steps_stay(self):
        text = """
    import wandb
    with wandb.init(project="p", settings=wandb.Settings(silent=True)) as run:
        for epoch in range(3):
            train(1)
            run.log({"loss": epoch})
            print(run.step)
        train(1)
"""
        offline = {"WANDB_MODE": "offline", "WANDB_ERROR_REPORTING": "false"}
        for name in ("with", "without"):
            (self.folder / name).mkdir()
        result = self.program(text, WANDB_DIR=self.folder / "with", **offline)
        plain = self.program(text, WANDB_DIR=self.folder / "without", RUBATO_HOOKS="off", **offline)
        self.assertEqual((result.out, result.err), (plain.out, plain.err))
        rows, axes = [], []
        for record in self.wandb_records(next(self.folder.glob("with/wandb/offline-run-*/*.wandb"))):
            if "history" in record:
                row = {}
                for item in record["history"]["item"]:
                    row[item.get("key") or "/".join(item["nested_key"])] = json.loads(item["value_json"])
                rows.append(row)
            if "metric" in record:
                axes.append((record["metric"].get("glob_name"), record["metric"].get("step_metric")))
        self.assertEqual([(row.get("_step"), row.get("loss"), row.get("rubato/epoch")) for row in rows],
                         [(0, 0, 0), (1, 1, 1), (2, 2, 2), (3, None, 3)])  # fmt: skip
        self.assertEqual([row["rubato/epoch_energy_j"] for row in rows], [42.0] * 4)
        self.assertIn(("rubato/*", "rubato/epoch"), axes)

    def wandb_records(self, path):
        out = self.run_job("""
            import json, struct, sys
            from google.protobuf.json_format import MessageToDict
            from wandb.proto import wandb_internal_pb2
            # LevelDB's log format after a header of seven bytes; these records lie in its first block, whole.
            data = open(sys.argv[1], "rb").read()
            at = 7
            while at + 7 < min(len(data), 32768):
                _, length, kind = struct.unpack_from("<IHB", data, at)
                assert kind == 1, (at, kind)
                record = wandb_internal_pb2.Record(); record.ParseFromString(data[at + 7 : at + 7 + length])
                print(json.dumps(MessageToDict(record, preserving_proto_field_name=True)))
                at += 7 + length
            """, python=self.python, hooks=False, arguments=[str(path)])  # fmt: skip
        self.assertEqual(out.code, 0, out.err)
        return [json.loads(line) for line in out.out.splitlines()]

    def test_mlflow_has_them_in_the_run_that_was_active(self):
        result = self.program("""
    import mlflow
    mlflow.set_tracking_uri("file:store")
    with mlflow.start_run() as run:
        mlflow.log_metric("loss", 0.5, step=7)
        train(2)
    train(1)
    print(run.info.run_id)
""", MLFLOW_ALLOW_FILE_STORE="true")
        metrics = next(self.folder.glob(f"store/*/{result.out.strip()}/metrics"))
        told = [line.split()[1:] for line in (metrics / "rubato" / "epoch_energy_j").read_text().splitlines()]
        self.assertEqual(told, [["42.0", "0"], ["42.0", "1"]])
        self.assertEqual(sorted(str(p.relative_to(metrics)) for p in metrics.rglob("*") if p.is_file()), [
            "loss", "rubato/energy_j", "rubato/epoch_energy_j", "rubato/epoch_mean_power_w"])  # fmt: skip

    def test_pytorchs_writer_has_the_epochs_of_a_plain_loop(self):
        python = jobs.venv("torch2", "torch")
        result = self.program("""
    import torch
    from torch.utils.tensorboard import SummaryWriter
    writer = SummaryWriter("log")
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    boards.write({"GPU-a": (5.0, 0.0)})
    for epoch in range(2):
        for number, x in enumerate(torch.utils.data.DataLoader(torch.ones(8, 2), batch_size=4)):
            optimizer.zero_grad(); model(x).sum().backward(); optimizer.step()
            boards.write({"GPU-a": (5.0 + 20 * epoch + 10 * number, 0.0)})
        for x in torch.utils.data.DataLoader(torch.ones(8, 2), batch_size=4):
            boards.write({"GPU-a": (5.0 + 20 * epoch + 20, 0.0)})
""", python=python, path=[self.site])
        self.assertEqual(result.err, "")
        scalars = self.scalars(self.folder / "log")
        self.assertEqual(scalars["rubato/epoch_energy_j"], "[(0, 10.0), (1, 10.0)]")

    def keras(self, venv, path=(), **environment):
        text = """
    import os, numpy as np
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import keras
    class Draws(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None): self.board(epoch)
        def on_epoch_end(self, epoch, logs=None): self.board(epoch + 1)
        def board(self, epochs): boards.write({"GPU-a": (42.0 * (epochs + 2 * fit), 0.0)})
    boards.write({"GPU-a": (0.0, 0.0)})
    for fit in range(2):
        model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        log = keras.callbacks.TensorBoard(f"log{fit}", update_freq=2)
        model.fit(np.ones((8, 4)), np.ones(8), batch_size=2, epochs=2, verbose=0, callbacks=[Draws(), log])
"""
        self.program(text, python=jobs.venv(venv, "keras", "tensorflow"), path=path, **environment)
        for fit in range(2):
            scalars = self.scalars(self.folder / f"log{fit}" / "train")
            self.assertEqual(scalars["rubato/epoch_energy_j"], "[(0, 42.0), (1, 42.0)]", scalars)
            self.assertIn("epoch_loss", scalars)

    def test_the_tensorboard_callback_of_keras_3_has_them(self):
        self.keras("keras3-tf", path=[self.site], KERAS_BACKEND="tensorflow")

    def test_the_tensorboard_callback_of_tf_keras_2_has_them(self):
        self.keras("tf215")
