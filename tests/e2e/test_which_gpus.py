"""On a node of many GPUs only those a job was given are counted, each of them once however many ranks it has."""

import json
import unittest

from harness import MachineTest, wait_until

RANKS = 4


class GivenGpus(MachineTest):
    def eight(self):
        machine = self.machine(rate=20, profiles=",".join(["v100"] * 8))
        listed = json.loads(machine.run("devices", "--json").stdout)["gpus"]
        self.assertEqual(len({gpu["uuid"] for gpu in listed}), 8)
        return machine, [gpu["uuid"] for gpu in listed]

    def measured(self, machine, **environment):
        done = machine.run("measure", "--", *machine.train(40), environment=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return machine.last()

    def test_one_of_eight_by_index_or_uuid_is_the_only_one_counted(self):
        machine, uuids = self.eight()
        for visible, given in (("3", uuids[3]), (uuids[5], uuids[5]), (uuids[6][:12], uuids[6])):
            with self.subTest(CUDA_VISIBLE_DEVICES=visible):
                report = self.measured(machine, CUDA_VISIBLE_DEVICES=visible)
                self.assertEqual([gpu["uuid"] for gpu in report["gpus"]], [given])
                self.assertEqual(report["energy_j"], report["gpus"][0]["energy_j"])
                self.assertEqual([source["source"] for source in report["sources"]], [given])
                # A 250 W board that computes, not one that waits at some 40 W.
                self.assertGreater(report["energy_j"], 60 * report["duration_s"])
                self.assertLess(report["energy_j"], 250 * report["duration_s"])

    def test_a_job_that_chooses_one_of_eight_by_itself_pays_for_that_one(self):
        machine, uuids = self.eight()
        job = [*machine.train(120), "--device", "3"]
        done = machine.run("measure", "--", "env", "CUDA_VISIBLE_DEVICES=3", *job)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = machine.last()
        self.assertEqual([gpu["uuid"] for gpu in report["gpus"]], [uuids[3]])
        self.assertEqual(report["energy_j"], report["gpus"][0]["energy_j"])
        self.assertEqual([source["source"] for source in report["sources"]], [uuids[3]])
        self.assertEqual({gpu["uuid"] for gpu in report["bystanders"]}, set(uuids) - {uuids[3]})
        self.assertTrue(all(gpu["energy_j"] > 0 for gpu in report["bystanders"]))
        self.assertIn("7 more GPUs were measured on which the job never computed", done.stderr)

    def test_a_gpu_that_is_named_and_that_the_job_cannot_see_is_told(self):
        machine, _ = self.eight()
        for list_, visible, told in (("0,3", "3", "GPU 0 "), ("3", "3", None), ("0,1", "", "GPU 0, 1 "), ("0", "-1", "GPU 0 ")):
            done = machine.run("measure", "--gpu", list_, "--", "true", environment={"CUDA_VISIBLE_DEVICES": visible})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual("hides from the job" in done.stderr, told is not None, done.stderr)
            self.assertIn(told or "", done.stderr)

    def test_a_job_without_a_gpu_has_no_gpu_counted(self):
        machine, _ = self.eight()
        done = machine.run("measure", "--", "true", environment={"CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no GPU", done.stdout + done.stderr)


class FourRanksOnANode(MachineTest):
    def rank(self, machine, number, iterations):
        rank = {"LOCAL_RANK": str(number), "LOCAL_WORLD_SIZE": str(RANKS), "WORLD_SIZE": str(RANKS),
                "TORCHELASTIC_RUN_ID": "none", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
        job = [*machine.train(iterations), "--device", str(number)]
        return machine.start("measure", "-v", "--", *job, environment=rank)

    def test_each_gpu_is_counted_once(self):
        machine = self.machine(rate=20, profiles=",".join(["v100"] * RANKS))
        leader = self.rank(machine, 0, 240)
        runtime = machine.folder / "runtime" / "rubato"
        wait_until(lambda: len(list(runtime.glob("leader-GPU*"))) == RANKS, "rank 0 to lead")
        others = [self.rank(machine, number, 120) for number in range(1, RANKS)]
        said = [process.communicate(timeout=60)[1] for process in [leader, *others]]
        self.assertEqual([p.returncode for p in [leader, *others]], [0] * RANKS, said)
        (record,) = json.loads(machine.run("runs", "--json").stdout)["runs"]
        report = json.loads(machine.run("show", record["run_id"], "--json").stdout)
        gpus = report["gpus"]
        self.assertEqual(len({gpu["uuid"] for gpu in gpus}), RANKS)
        self.assertEqual(len(gpus), RANKS)
        self.assertAlmostEqual(report["energy_j"], sum(gpu["energy_j"] for gpu in gpus), places=3)
        # Every rank computed at least 48 s of the leader's 96 or more; an idle board draws some 40 W.
        for gpu in gpus:
            self.assertGreater(gpu["energy_j"], 60 * report["duration_s"], gpu["uuid"])


if __name__ == "__main__":
    unittest.main()
