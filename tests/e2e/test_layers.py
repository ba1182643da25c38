"""rubato layers show: what each layer asks, on a GPU and without one; what cannot be counted is named."""

import json
import unittest

from harness import MachineTest

GPU = ("--gpu", "sim:rtxa4000")
TINY = {
    "schema": "rubato.network/1", "name": "tiny", "source": "a test", "input": [3, 8, 8],
    "layers": [
        {"name": "conv", "kind": "conv", "channels": 4, "kernel": 3, "bias": False},
        {"name": "own", "kind": "MyOp", "input_shapes": [[4, 6, 6]], "output_shape": [4, 6, 6]},
        {"name": "flat", "kind": "flatten"},
        {"name": "fc", "kind": "linear", "features": 10},
    ],
}


class Layers(MachineTest):
    def setUp(self):
        self.box = self.machine(rate=40, found={})
        for name in ("RUBATO_SIM_WORLD", "RUBATO_SIM_PROFILES", "LD_LIBRARY_PATH"):  # sim: makes its own world
            self.box.environment.pop(name)

    def json(self, *words):
        done = self.box.run("layers", "show", *words, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, *words):
        done = self.box.run("layers", "show", *words)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        return done.stderr

    def network(self, change=None, **fields):
        network = json.loads(json.dumps({**TINY, **fields}))
        if change:
            network["layers"][0].update(change)
        file = self.box.folder / "network.json"
        file.write_text(json.dumps(network))
        return file


class Show(Layers):
    def test_every_layer_has_demands_and_a_predicted_time_that_add_up(self):
        shown = self.json("resnet50", "--batch", 64, *GPU)
        self.assertEqual(shown["schema"], "rubato.layers/1")
        self.assertAlmostEqual(shown["macs_per_sample"] / 4.1e9, 1, delta=0.01)
        self.assertEqual(shown["parameters"], 25557032)
        self.assertEqual(shown["gpu"]["profile"], "rtxa4000")
        self.assertEqual(shown["gpu"]["kind"], "modelled")
        self.assertEqual([total["pass"] for total in shown["totals"]], ["forward", "backward", "optimizer"])
        for total in shown["totals"]:
            rows = [row for row in shown["layers"] if row["pass"] == total["pass"]]
            self.assertTrue(rows)
            for key in ("operations", "bytes_read", "bytes_written", "time_s"):
                self.assertAlmostEqual(sum(row[key] for row in rows) / total[key], 1, delta=1e-9)
            self.assertAlmostEqual(sum(row["time_s"] * row["power_w"] for row in rows) / total["energy_j"], 1, delta=1e-9)
            self.assertAlmostEqual(sum(total["time_by_bound"].values()) / total["time_s"], 1, delta=1e-9)
        self.assertIsNone(shown["measured"])

    def test_what_holds_a_layer_up_is_what_its_side_of_the_reached_ridge_says(self):
        shown = self.json("vgg16", "--batch", 32, *GPU)
        gpu = shown["gpu"]
        here = [ridge for ridge in gpu["ridges"] if ridge["sm_clock"] == "default"
                and ridge["memory_clock_mhz"] == gpu["memory_clock_mhz"]]
        self.assertEqual(len(here), 1)
        kinds = set()
        for row in shown["layers"]:
            if row["bound"] == "latency":
                continue
            pipe = "dense" if row["dense"] else "elementwise"
            ridge = here[0][pipe + "_operations_per_byte"] * gpu["reach"][pipe] / gpu["reach"]["memory"]
            # At its power limit the board goes slower than its default clock, and the ridge comes down.
            if 0.5 * ridge < row["operations_per_byte"] < ridge:
                continue
            self.assertEqual(row["bound"], "compute" if row["operations_per_byte"] >= ridge else "memory", row)
            kinds.add(row["bound"])
        self.assertEqual(kinds, {"compute", "memory"})

    def test_half_precision_moves_half_and_batch_image_and_pass_are_taken(self):
        single = self.json("vgg16", "--batch", 8, "--pass", "forward", *GPU)
        half = self.json("vgg16", "--batch", 8, "--pass", "forward", "--precision", "fp16", *GPU)
        self.assertEqual({row["pass"] for row in single["layers"]}, {"forward"})
        conv = [{row["layer"]: row for row in shown["layers"]}["conv3_2"] for shown in (single, half)]
        self.assertEqual(conv[0]["bytes_read"], 2 * conv[1]["bytes_read"])
        self.assertLess(conv[1]["time_s"], conv[0]["time_s"])
        small = self.json("vgg16", "--batch", 16, "--image", 112, "--pass", "forward", *GPU)
        first = {row["layer"]: row for row in small["layers"]}["conv3_2"]
        self.assertEqual(first["operations"], 2 * conv[0]["operations"] / 4)

    def test_the_table_fits_80_columns_and_says_what_its_numbers_are(self):
        done = self.box.run("layers", "show", "resnet50", "--batch", 64, *GPU)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line for line in done.stdout.splitlines() if len(line) > 80], [])
        for word in ("Forward pass", "Backward pass", "Optimizer step", "Totals", "Ridge", "layer4.2.conv3",
                     "modelled (roofline on gpus/rtxa4000.json", "7001 MHz"):
            self.assertIn(word, done.stdout)

    def test_without_a_gpu_the_demands_stand_alone_and_a_line_says_why(self):
        shown = self.json("vgg16", "--batch", 8)
        self.assertIsNone(shown["gpu"])
        self.assertTrue(shown["why_no_gpu"])
        self.assertIsNone(shown["layers"][0]["time_s"])
        done = self.box.run("layers", "show", "vgg16", "--batch", 8)
        self.assertIn("none to predict for", done.stdout)
        self.assertNotIn("modelled", done.stdout)


class Files(Layers):
    def test_a_file_is_read_and_kinds_nobody_knows_are_marked(self):
        shown = self.json(self.network(batch=4, precision="fp16", optimizer="adam"), *GPU)
        self.assertEqual((shown["batch"], shown["precision"], shown["optimizer"]), (4, "fp16", "adam"))
        self.assertEqual(shown["unknown"], ["own"])
        self.assertEqual({row["layer"]: row["unknown"] for row in shown["layers"]},
                         {"conv": False, "own": True, "fc": False})
        done = self.box.run("layers", "show", self.network(), "--batch", 2, *GPU)
        self.assertIn("Of unknown kind, counted as element-wise: own.", done.stdout)

    def test_what_is_wrong_is_named_with_its_layer(self):
        batch = ("--batch", 2, *GPU)
        self.assertIn('layer "conv": "kernel" is -3 where', self.refused(self.network({"kernel": -3}), *batch))
        self.assertIn("smaller than its kernel", self.refused(self.network({"kernel": 30}), *batch))
        dynamic = self.network({"dynamic": [[4, 6, 6], [4, 7, 7]]})
        self.assertIn('layer "conv" (conv) has a dynamic shape: its output was 4x6x6, 4x7x7', self.refused(dynamic, *batch))
        skipped = self.json(dynamic, *batch, "--skip-dynamic")
        self.assertEqual(skipped["left_out"], ["conv"])
        self.assertNotIn("conv", {row["layer"] for row in skipped["layers"]})
        self.assertIn("Left out, for their shapes are dynamic: conv.",
                      self.box.run("layers", "show", dynamic, *batch, "--skip-dynamic").stdout)
        self.assertIn("how many samples are in a batch", self.refused(self.network(), *GPU))
        self.assertIn("resnet50, vgg16", self.refused("resnet51", *batch))
        self.assertIn("no-such-file.json", self.refused("no-such-file.json", *batch))
        self.assertIn("traced with input 3x8x8 and do not follow --image 9", self.refused(self.network(), "--image", 9, *batch))
        self.assertIn("bf16 on 'v100", self.refused("vgg16", "--batch", 2, "--precision", "bf16", "--gpu", "sim:v100"))

    def test_garbage_is_refused_in_words(self):
        file = self.box.folder / "garbage.json"
        for text in (b"", b"{", b"[]", b"\xff\xfe", b'{"schema": "rubato.network/2"}', b"[" * 100000,
                     json.dumps({**TINY, "input": [2 ** 40, 8, 8]}).encode(),
                     json.dumps({**TINY, "input": [1e300]}).encode()):
            file.write_bytes(text)
            self.assertIn("garbage.json", self.refused(file, "--batch", 2, *GPU))


class Measured(Layers):
    def test_a_run_that_knows_only_phases_or_no_kernels_says_so(self):
        job = self.box.train(60)
        for options in ((), ("--kernels", "2s/4s")):
            done = self.box.run("measure", *GPU, *options, "--", *job)
            self.assertEqual(done.returncode, 0, done.stderr)
            shown = self.box.run("layers", "show", "resnet50", "--batch", 128, *GPU, "--run", "last")
            self.assertEqual(shown.returncode, 0, shown.stderr)
            words = " ".join(shown.stdout.split())
            if options:
                self.assertIn("That run knows none of these layers; what it knows: backward (", words)
                measured = self.json("resnet50", "--batch", 128, *GPU, "--run", "last")["measured"]
                self.assertEqual(measured["kind"], "modelled")
                # Busy for most of an iteration of a few tenths of a second.
                self.assertTrue(0.1 < sum(measured["time_s"].values()) < 2, measured)
            else:
                self.assertIn("holds no kernel records", words)


if __name__ == "__main__":
    unittest.main()
