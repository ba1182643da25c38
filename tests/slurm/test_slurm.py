"""Jobs of every end on a real Slurm cluster: rubato is asked for by an option of Slurm's, one report tells of all GPUs, and
whatever ends the job, the next one finds the GPUs as this one did."""

import os
import signal
import subprocess
import time
import unittest

from slurm_cluster import (
    CLUSTER, FOREVER, FOUND_W, NODES, PATIENCE, SHARED, WANTED_W, SlurmTest, as_found, audit, decisions, energy_lines, job_state, limits,
    node_reason, node_state, run, train, wait_until,
)

SET = f"--rubato=power-limit={WANTED_W}"
ONE_SET = [WANTED_W, FOUND_W]
ONLY_JOBS = '[[rule]]\nname = "jobs"\nslurm = true\n'


def setUpModule():
    """Only jobs may set anything: under proctrack/linuxproc rubatod knows them by the prolog's word alone."""
    for node in NODES:
        config = CLUSTER / node / "rubatod.toml"
        config.write_text(config.read_text() + ONLY_JOBS)
        os.kill(int((CLUSTER / node / "rubatod.process").read_text()), signal.SIGHUP)


class TheOption(SlurmTest):
    def test_a_mistake_is_told_where_it_was_typed(self):
        for text, told in (("max-slowdown=5", "'5' is no value for max-slowdown"), ("fast", "'fast' is none of max-slowdown=5%"),
                           ("off,batch", "'off' leaves the job alone"), ("measure,sm-clock=900", "'measure' sets nothing"),
                           ("sm-clock=900,objective=edp", "a setting of your own"), ("knobs=fan", "'fan' is no value for knobs"),
                           ("batch,batch", "'batch' stands twice"), ("power-limit", "'power-limit' wants a value"),
                           (",", "an option is missing")):
            for command in (["srun", "true"], ["sbatch", "--wrap=true"], ["salloc", "true"]):
                with self.subTest(text=text, command=command[0]):
                    done = run("as_user", command[0], f"--rubato={text}", *command[1:], check=False)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(told, done.stderr)

    def test_without_it_and_with_off_a_job_is_let_be(self):
        for options in ((), ("--rubato=off",)):
            done = run("as_user", "srun", *options, "-N2", "--gres=gpu:1", "env")
            self.assertNotIn("RUBATO_RUN_ID", done.stdout)
            self.assertNotIn("rubato, Slurm step", done.stderr)

    def test_a_step_without_gpus_is_let_be(self):
        done = run("as_user", "srun", "--rubato", "env")
        self.assertNotIn("RUBATO_RUN_ID", done.stdout)

    def test_a_list_of_commands_runs_as_it_is_and_that_is_said(self):
        programs = SHARED / "programs"
        programs.write_text("0 env\n")
        done = run("as_user", "srun", "--rubato", "--gres=gpu:1", "--multi-prog", programs)
        self.assertNotIn("RUBATO_SLURM", done.stdout)
        self.assertNotIn("RUBATO_RUN_ID", done.stdout)
        self.assertIn("it runs without", done.stderr)

    def test_the_end_of_the_allocation_reaches_the_governor(self):
        before = time.time()
        done = run("as_user", "srun", "--rubato", "--time=7", "--gres=gpu:1", "env")
        end = next(int(line.split("=")[1]) for line in done.stdout.splitlines() if line.startswith("SLURM_JOB_END_TIME="))
        self.assertTrue(before + 7 * 60 - 5 <= end <= time.time() + 7 * 60 + 5, end - before)

    def test_the_command_is_the_users_own_with_its_words_output_and_status(self):
        script = 'printf "%s|" "$@"; read line; echo "$line"; exit 7'
        done = run("as_user", "srun", "--rubato", "--gres=gpu:1", "bash", "-c", script, "a", "b c", "", "d'e", input="from stdin\n", check=False)
        self.assertEqual(done.stdout, "b c||d'e|from stdin\n")
        self.assertEqual(done.returncode, 7)
        done = run("as_user", "srun", "--rubato", "--gres=gpu:1", "no-such-command", check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no-such-command", done.stderr)


class JobsThatEnd(SlurmTest):
    def test_finished_on_two_nodes_with_one_report_and_every_gpu_counted_once(self):
        job, output = self.submit(f"#SBATCH {SET}", f"srun {train(600)}", options=("-N2", "--gres=gpu:1"))
        for node in NODES:
            self.wait_for_limits(node, ONE_SET, "the wanted limit on the job's GPU alone")
        self.assertEqual(self.wait_for_end(job), "COMPLETED")
        self.wait_for_epilog(job)
        text = output.read_text()
        self.assert_report(text, 2)
        self.assertEqual(text.count("put back as found"), 2, text)
        gpus = [gpu for line in energy_lines(job) for gpu in line["gpus"]]
        self.assertEqual(len({gpu["uuid"] for gpu in gpus}), 2)
        self.assertEqual(len(gpus), 2)
        self.assertTrue(all(gpu["energy_j"] > 1000 for gpu in gpus), gpus)
        for node in NODES:
            self.assertTrue(as_found(node))
            self.assertEqual(decisions(node, job)[:2], ["lease granted", "set done"])

    def test_a_search_under_a_bound_is_rubato_runs_own(self):
        job, output = self.submit("#SBATCH --rubato=max-slowdown=5%,knobs=power-limit", f"srun {train(1500)}", options=("-N1", "--gres=gpu:1"))
        self.assertEqual(self.wait_for_end(job), "COMPLETED")
        self.assert_report(output.read_text(), 1)
        self.assertIn("less GPU energy", output.read_text())

    def test_several_tasks_of_a_node_are_one_report_with_each_gpu_once(self):
        job, output = self.submit(f"#SBATCH {SET}", f"srun {train(200)}", options=("-N1", "-n3", "--gres=gpu:1"))
        self.assertEqual(self.wait_for_end(job), "COMPLETED")
        self.assert_report(output.read_text(), 1)

    def test_a_batch_script_as_a_whole(self):
        job, output = self.submit(f"#SBATCH {SET},batch", train(400), "srun env", options=("-N1", "--gres=gpu:2"))
        wait_until(lambda: WANTED_W in limits("n1"), "the wanted limit")
        self.assertEqual(self.wait_for_end(job), "COMPLETED")
        self.assertIn("put back", output.read_text())
        self.assertNotIn("rubato, Slurm step", output.read_text())

    def test_an_allocation_of_salloc(self):
        done = run("as_user", "salloc", SET, "-N1", "--gres=gpu:1", "srun", "bash", "-c", train(100))
        self.assert_report(done.stderr, 1)

    def test_failed(self):
        job, _ = self.submit(f"#SBATCH {SET}", f"srun bash -c '{train(100)}; exit 3'", options=("-N1", "--gres=gpu:1"))
        self.assertEqual(self.wait_for_end(job), "FAILED")


class JobsThatAreEnded(SlurmTest):
    def running_at_the_limit(self, *options):
        job, output = self.submit(f"#SBATCH {SET}", f"srun {FOREVER}", options=("-N2", "--gres=gpu:1", *options))
        for node in NODES:
            self.wait_for_limits(node, ONE_SET, "the wanted limit")
        return job, output

    def requeue(self, job, nodes, until):
        run("scontrol", "requeue", job)
        self.wait_for_epilog(job, nodes)
        asked = time.monotonic()

        def again():
            # Slurm lets a requeued job wait two minutes, takes no other time while it still completes, and begins
            # none whose time is set anew all the while.
            nonlocal asked
            if job_state(job) == "PENDING" and time.monotonic() - asked > 8:
                asked = time.monotonic()
                run("scontrol", "update", f"jobid={job}", "starttime=now", check=False)
            return until()

        wait_until(again, "the second start", patience=2 * PATIENCE)

    def test_cancelled(self):
        job, _ = self.running_at_the_limit()
        run("scancel", job)
        self.assertEqual(self.wait_for_end(job), "CANCELLED")
        self.wait_for_epilog(job)
        self.assertTrue(all(as_found(node) for node in NODES))

    def test_cancelled_by_a_kill_of_every_process_at_once(self):
        job, _ = self.running_at_the_limit()
        run("scancel", "--signal=KILL", "--full", job)
        self.wait_for_end(job)
        self.wait_for_epilog(job)
        self.assertTrue(all(as_found(node) for node in NODES))

    def test_timed_out(self):
        job, _ = self.running_at_the_limit("--time=1")
        self.assertEqual(self.wait_for_end(job), "TIMEOUT")
        self.wait_for_epilog(job)
        self.assertTrue(all(as_found(node) for node in NODES))

    def test_requeued_it_is_governed_again(self):
        job, _ = self.running_at_the_limit()
        self.requeue(job, NODES, lambda: all(decisions(node, job).count("set done") >= 2 for node in NODES))
        for node in NODES:
            self.wait_for_limits(node, ONE_SET, "the wanted limit again")
        run("scancel", job)

    def test_the_report_of_a_requeued_job_is_that_of_its_last_start(self):
        # As tasks leave it whose srun was killed before they ended.
        left = "~/.local/state/rubato/slurm/$SLURM_JOB_ID.0"
        job, output = self.submit(
            f"#SBATCH {SET}", 'if [ "${SLURM_RESTART_COUNT:-0}" = 0 ]; then',
            f"mkdir -p {left} && echo '{{}}' >{left}/n1.7.json", "echo left", "sleep 600", "fi", f"srun {train(200)}",
            options=("-w", "n1", "--gres=gpu:1"))
        wait_until(lambda: "left" in output.read_text(), "the first start")
        self.requeue(job, ["n1"], lambda: job_state(job) == "COMPLETED")
        self.assert_report(output.read_text(), 1)
        self.assertNotIn("cannot be read", output.read_text())

    def test_what_slurm_does_not_end_loses_its_lease(self):
        job, _ = self.submit("sleep 600", options=("-w", "n1", "--gres=gpu:1"))
        wait_until(lambda: job_state(job) == "RUNNING", "the job")
        session = self.session_of_the_user("n1")
        self.wait_for_limits("n1", ONE_SET, "the wanted limit")
        run("scancel", job)
        self.wait_for_epilog(job, ["n1"])
        self.assertTrue(as_found("n1"))
        self.assertIsNone(session.poll(), "it goes on, measured only")


class NodesInTrouble(SlurmTest):
    running_at_the_limit = JobsThatAreEnded.running_at_the_limit

    def test_drained_while_the_job_runs(self):
        job, _ = self.running_at_the_limit()
        run("scontrol", "update", "nodename=n1", "state=drain", "reason=by an administrator")
        self.assertEqual(limits("n1"), ONE_SET, "a draining node lets its job run on")
        run("scancel", job)
        wait_until(lambda: node_state("n1") == "drained", "the node to be drained")
        self.assertTrue(as_found("n1"))
        self.assertEqual(node_reason("n1"), "by an administrator")

    def test_slurmctld_is_restarted(self):
        job, _ = self.running_at_the_limit()
        run("controller", "stop")
        restarted = time.monotonic()
        self.assertEqual([limits(node) for node in NODES], [ONE_SET] * 2)
        subprocess.run(["controller", "start"], check=True, timeout=120)
        # In its first seconds Slurm 22.05 loses what it is asked, and nothing of it tells when they are over.
        wait_until(lambda: time.monotonic() > restarted + 10, "slurmctld to settle")
        self.assertEqual(job_state(job), "RUNNING")
        run("scancel", job)
        self.wait_for_epilog(job)
        self.assertTrue(all(as_found(node) for node in NODES))

    def test_slurmd_is_killed_and_comes_back(self):
        job, _ = self.running_at_the_limit()
        run("node", "kill", "n1", "slurmd")
        subprocess.run(["node", "start", "n1", "slurmd"], check=True, timeout=120)
        run("scancel", job)
        self.wait_for_epilog(job)
        self.assertTrue(all(as_found(node) for node in NODES))

    def test_the_epilog_is_killed(self):
        job, _ = self.running_at_the_limit()
        (CLUSTER / "n1" / "kill_epilog").touch()
        run("scancel", job)
        wait_until(lambda: "drain" in node_state("n1"), "Slurm to notice its epilog's end")
        wait_until(lambda: as_found("n1"), "rubatod to put back what the dead job's lease had set")

    def test_the_epilog_is_killed_and_the_job_outlived_by_its_lease(self):
        (CLUSTER / "n1" / "kill_epilog").touch()
        job, _ = self.submit("sleep 600", options=("-w", "n1", "--gres=gpu:1"))
        wait_until(lambda: job_state(job) == "RUNNING", "the job")
        session = self.session_of_the_user("n1")
        self.wait_for_limits("n1", ONE_SET, "the wanted limit")
        run("scancel", job)
        wait_until(lambda: "drain" in node_state("n1"), "Slurm to notice its epilog's end")
        self.assertEqual(limits("n1"), ONE_SET, "nobody told rubatod, and its holder lives")
        (CLUSTER / "n1" / "kill_epilog").unlink()
        run("scontrol", "update", "nodename=n1", "state=resume")
        # Of another user: processes of the same one would be the new job's too.
        done = run("srun", "-w", "n1", "--gres=gpu:1", "rubato", "devices", "--json", cwd="/")
        self.assertEqual(done.stdout.count(f'"requested_w": {FOUND_W}.0'), done.stdout.count('"requested_w"'))
        told = [line["why"] for line in audit("n1") if line["event"] == "job" and "begins" in line["why"]]
        self.assertIn("restored", told[-1], "the prolog of the next job ended the lease")
        self.assertIsNone(session.poll())

    def test_rubatod_is_killed_and_the_epilog_puts_back_what_it_left(self):
        job, _ = self.running_at_the_limit()
        run("node", "kill", "n1", "rubatod")
        self.assertEqual(limits("n1")[0], WANTED_W)
        run("scancel", job)
        self.wait_for_end(job)
        wait_until(lambda: as_found("n1"), "the epilog to put back without rubatod")
        subprocess.run(["node", "start", "n1", "rubatod"], check=True, timeout=120)

    def test_a_node_whose_rubatod_hangs_is_drained_with_its_reason(self):
        job, _ = self.running_at_the_limit()
        rubatod = int((CLUSTER / "n1" / "rubatod.process").read_text())
        os.kill(rubatod, signal.SIGSTOP)
        try:
            run("scancel", job)
            wait_until(lambda: "drain" in node_state("n1"), "the node to be drained")
            self.assertIn("rubato: rubatod has not answered", node_reason("n1"))
            self.assertNotIn("drain", node_state("n2"))
        finally:
            os.kill(rubatod, signal.SIGCONT)


class OnlyJobs(SlurmTest):
    def test_who_is_in_no_job_sets_nothing(self):
        job, _ = self.submit("sleep 600", options=("-w", "n1", "--gres=gpu:1"))
        wait_until(lambda: job_state(job) == "RUNNING", "the job")
        # Root on the node, in no job.
        done = run("on", "n1", "rubato", "run", "--gpu", 0, "--power-limit", WANTED_W, "--", *train(40).split())
        self.assertIn("no rule of rubatod is for", done.stderr)
        self.assertTrue(as_found("n1"))

    def test_a_user_tells_rubatod_of_no_job(self):
        done = run("as_user", "srun", "-N1", "--gres=gpu:1", "bash", "-c",
                   f"SLURM_JOB_UID=0 SLURM_JOB_GPUS=0 {CLUSTER}/build/lib/rubato/rubato-slurm epilog --no-drain", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("only root tells rubatod of jobs", done.stderr)

    def test_before_a_health_check_every_lease_ends(self):
        job, _ = self.submit(f"#SBATCH {SET}", f"srun {FOREVER}", options=("-w", "n1", "--gres=gpu:1"))
        self.wait_for_limits("n1", ONE_SET, "the wanted limit")
        done = run("on", "n1", CLUSTER / "build/lib/rubato/rubato-slurm", "clear", "--no-drain")
        self.assertIn("restored", done.stderr)
        run("scancel", job)


if __name__ == "__main__":
    unittest.main(verbosity=2)
