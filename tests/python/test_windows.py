"""rubato.window against a helper that answers as `rubato windows` does, and against the real one."""

import sys

import jobs

HELPER = """
    import json, sys
    for line in sys.stdin:
        verb, _, name = line.rstrip("\\n").partition(" ")
        if verb == "quit": break
        answer = {"schema": "rubato.window/1", "name": name}
        if verb == "begin":
            answer["open"] = True
        elif name == "garbage":
            print("nonsense", flush=True); continue
        elif name == "dies":
            print("no such GPU", file=sys.stderr); sys.exit(3)
        elif name == "half":
            gone = {"uuid": "b", "energy_j": None, "why_missing": "its sensor is gone"}
            gpus = [{"uuid": "a", "energy_j": 1.0}, gone]
            answer.update(seconds=1.0, gpus=gpus)
        else:
            bands = {"band_sampling_j": 0.5, "band_calibration_j": 2.0}
            known = (("a", 10.0), ("b", 32.0))
            gpus = [{"uuid": u, "energy_j": e, "why_missing": "", **bands} for u, e in known]
            answer.update(seconds=1.5, gpus=gpus)
        print(json.dumps(answer), flush=True)
"""


class Windows(jobs.JobTest):
    def setUp(self):
        super().setUp()
        self.write("helper.py", HELPER)
        self.helper = self.write(
            "rubato", f'#!/bin/sh\n[ "$1" = windows ] && exec {sys.executable} {self.folder}/helper.py\n'
        )
        self.helper.chmod(0o755)

    def program(self, text, **more):
        result = self.run_job(text, RUBATO_BINARY=self.helper, **more)
        self.assertEqual((result.code, result.err), (0, ""))
        return result

    def test_a_window_has_joules_bands_and_marks(self):
        result = self.program("""
            import rubato
            with rubato.window("epoch") as w: pass
            print(w.joules, w.seconds, w.band_sampling_joules, w.band_calibration_joules, w.why)
            print([g["uuid"] for g in w.gpus])
        """)
        self.assertEqual(result.out, "42.0 1.5 1.0 4.0 None\n['a', 'b']\n")
        self.assertEqual(
            [(m.kind, m.name) for m in result.marks], [("window begin", "epoch"), ("window end", "epoch")]
        )

    def test_windows_nest_overlap_and_answer_in_any_order(self):
        result = self.program("""
            import rubato
            outer, inner = rubato.window("outer").begin(), rubato.window("half").begin()
            outer.end(); inner.end()
            print(inner.joules, inner.why)
            print(outer.joules)
        """)
        self.assertEqual(result.out, "None its sensor is gone\n42.0\n")

    def test_what_the_helper_does_wrong_is_said_and_does_not_raise(self):
        for name, why in (("dies", "ended (exit status 3: no such GPU)"), ("garbage", "not understood")):
            with self.subTest(name):
                result = self.program(f"""
                    import rubato
                    with rubato.window("{name}") as w: pass
                    print(w.joules, w.seconds is not None, w.why)
                    with rubato.window("next") as w: pass
                    print(w.joules, w.why)
                """)
                self.assertEqual(result.out.count(why), 2, result.out)

    def test_without_a_program_joules_are_missing_and_say_why(self):
        result = self.run_job(
            """
            import rubato
            with rubato.window("a") as w: pass
            print(w.joules, w.why)
            open_window = rubato.window("b")
            print(open_window.why, rubato.window("c", energy=False).why)
            """,
            RUBATO_BINARY="/nowhere/rubato",
        )
        self.assertRegex(result.out, "None rubato windows could not be started: .*/nowhere/rubato")
        self.assertEqual((result.code, result.err), (0, ""))
        self.assertIn("the window has not ended it was opened with energy=False", result.out)

    def test_the_helper_ends_with_the_program_and_a_forked_child_has_its_own(self):
        result = self.program("""
            import os, rubato
            with rubato.window("a") as w: pass
            child = os.fork()
            if child == 0:
                with rubato.window("b") as v: pass
                os._exit(0 if v.joules == 42 else 1)
            print(os.waitpid(child, 0)[1], w.joules)
        """)
        self.assertEqual(result.out, "0 42.0\n")

    def test_many_windows_whose_joules_nobody_reads_do_not_block(self):
        self.program("""
            import rubato
            for _ in range(2000):
                with rubato.window("x"): pass
        """)


class RealHelper(jobs.JobTest):
    def test_a_simulated_gpu_has_joules(self):
        binary = jobs.built("rubato", "windows")
        result = self.run_job(
            """
            import rubato, time
            with rubato.window("wait", gpu="sim:v100") as w: time.sleep(1.5)
            print(w.joules, w.why, w.gpus)
            assert w.why is None and 10 < w.joules < 500, w
            """,
            RUBATO_BINARY=binary,
            RUBATO_SIM_WORLD=self.folder / "world",
            XDG_RUNTIME_DIR=self.folder,
            XDG_STATE_HOME=self.folder,
        )
        self.assertEqual(result.code, 0, result.out + result.err)
        self.assertIn("modelled", result.out)


DEVICES = """
    import sys, types
    def module(name, **members):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(members)
    said = []
    class Array:
        def is_deleted(self): return False
        def block_until_ready(self): said.append("jax array")
    cuda = types.SimpleNamespace(is_initialized=lambda: ready, device_count=lambda: 3,
                                 synchronize=lambda device: said.append(f"cuda {device}"))
    module("torch", cuda=cuda, _C=types.SimpleNamespace(_cuda_hasPrimaryContext=lambda device: device != 1))
    module("jax", live_arrays=lambda: [Array()])
    experimental = types.SimpleNamespace(sync_devices=lambda: said.append("tensorflow"))
    module("tensorflow", test=types.SimpleNamespace(experimental=experimental))
    import rubato
    def window(ready_now, **more):
        global ready
        ready = ready_now
        module("jax._src.xla_bridge", _backends={"cpu": 1} if ready else {})
        context = types.SimpleNamespace(_initialized=ready)
        module("tensorflow.python.eager.context", context_safe=lambda: context)
        said.clear()
        with rubato.window("w", energy=False, **more): said.append("work")
        print(", ".join(said))
"""


class Synchronised(jobs.JobTest):
    def test_a_window_waits_for_the_devices_in_use_at_both_ends_if_asked_to(self):
        result = self.run_job(DEVICES + "    window(True, sync=True)\n    window(True)\n")
        used = "cuda 0, cuda 2, jax array, tensorflow"
        self.assertEqual((result.out, result.err), (f"{used}, work, {used}\nwork\n", ""))

    def test_what_is_imported_and_not_in_use_is_left_alone_and_what_fails_too(self):
        result = self.run_job(
            DEVICES
            + "    window(False, sync=True)\n    cuda.synchronize = None\n    window(True, sync=True)\n"
        )
        rest = "jax array, tensorflow"
        self.assertEqual((result.out, result.err), (f"work\n{rest}, work, {rest}\n", ""))

    def test_without_a_framework_nothing_is_imported(self):
        result = self.run_job("""
            import rubato, sys
            with rubato.window("w", energy=False, sync=True): pass
            print({"torch", "jax", "tensorflow"} & set(sys.modules))
        """)
        self.assertEqual((result.out, result.err), ("set()\n", ""))
