"""rubato.window against a helper that answers as `rubato windows` does, and against the real one."""

import sys

import jobs

HELPER = """
    import json, sys
    open_now, ended = set(), 0
    for line in sys.stdin:
        verb, _, key = line.rstrip("\\n").partition(" ")
        if verb == "quit": break
        name = key.rpartition(" #")[0]
        answer = {"schema": "rubato.window/1", "name": key}
        if verb == "now":
            answer["gpus"] = [{"uuid": "a", "power_w": 150.0}]
        elif (verb == "begin") is (key in open_now):
            answer["error"] = f"{verb} {key}: it is open already, or not"
        elif verb == "begin":
            open_now.add(key)
            answer["open"] = True
        elif name == "garbage":
            print("nonsense", flush=True); continue
        elif name == "dies":
            print("no such GPU", file=sys.stderr); sys.exit(3)
        elif name == "half":
            gone = {"uuid": "b", "energy_j": None, "why_missing": "its sensor is gone"}
            gpus = [{"uuid": "a", "energy_j": 1.0}, gone]
            answer.update(seconds=1.0, gpus=gpus)
        elif name == "numbered":
            ended += 1
            answer.update(seconds=1.0, gpus=[{"uuid": "a", "energy_j": ended}])
        elif name == "arguments":
            answer.update(seconds=1.0, gpus=[{"uuid": word, "energy_j": 1.0} for word in sys.argv[1:]])
        else:
            bands = {"band_sampling_j": 0.5, "band_calibration_j": 2.0}
            known = (("a", 10.0), ("b", 32.0))
            gpus = [{"uuid": u, "energy_j": e, "why_missing": "", **bands} for u, e in known]
            answer.update(seconds=1.5, gpus=gpus)
        open_now.discard(key) if verb == "end" else None
        print(json.dumps(answer), flush=True)
"""


class Windows(jobs.JobTest):
    def setUp(self):
        super().setUp()
        self.write("helper.py", HELPER)
        self.helper = self.write(
            "rubato", f'#!/bin/sh\n[ "$1" = windows ] && shift && exec {sys.executable} {self.folder}/helper.py "$@"\n'
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

    def test_a_name_may_be_open_twice_and_its_marks_keep_it(self):
        result = self.program("""
            import rubato
            outer, inner = rubato.window("numbered").begin(), rubato.window("numbered").begin()
            inner.end(); outer.end()
            print(inner.joules, inner.why, outer.joules, outer.why)
        """)
        self.assertEqual(result.out, "1.0 None 2.0 None\n")
        self.assertEqual({m.name for m in result.marks}, {"numbered"})

    def test_a_window_that_begins_again_is_measured_again(self):
        result = self.program("""
            import rubato
            w = rubato.window("numbered")
            for epoch in range(3):
                with w: pass
                if epoch != 1: print(w.joules)  # that of the second is still to come when the third begins
            w.begin()
            print(w.why)
        """)
        self.assertEqual(result.out, "1.0\n3.0\nthe window has not ended\n")

    def test_gpus_may_be_numbers_and_lists_and_the_first_is_not_all(self):
        result = self.program("""
            import rubato
            for gpu in (0, 1, [0, 1], ("GPU-a",), "2,3", None, ""):
                with rubato.window("arguments", gpu=gpu) as w: pass
                print([g["uuid"] for g in w.gpus])
            for meter in ("rapl", ["rapl", "snmp:rack"], "", []):
                with rubato.window("arguments", meter=meter) as w: pass
                print([g["uuid"] for g in w.gpus])
            with rubato.window("arguments", gpu=[]) as w: pass
            print(w.joules, w.why)
        """)
        lists = [["--cuda-numbers", "--gpu", words] for words in ("0", "1", "0,1", "GPU-a", "2,3")] + [[], []]
        lists += [["--meter=rapl"], ["--meter=rapl", "--meter=snmp:rack"], [], []]
        self.assertEqual(result.out, "".join(f"{words}\n" for words in lists) + "None its list of GPUs is empty\n")

    def test_what_gpus_read_now_is_a_list_and_where_there_is_no_helper_an_empty_one(self):
        result = self.program("""
            import rubato
            with rubato.window("around") as w: print(rubato.gpus())
            print(w.joules)
        """)
        self.assertEqual(result.out, "[{'uuid': 'a', 'power_w': 150.0}]\n42.0\n")
        result = self.run_job("import rubato; print(rubato.gpus(0))", RUBATO_BINARY="/nonexistent")
        self.assertEqual((result.code, result.out, result.err), (0, "[]\n", ""))

    def test_a_window_that_was_never_begun_says_so_and_is_not_marked(self):
        result = self.program("""
            import rubato
            w = rubato.window("a").end()
            print(w.joules, w.seconds, w.why)
            w.begin().end().end()
            print(w.joules)
        """)
        self.assertEqual(result.out, "None None the window was ended and never begun\n42.0\n")
        self.assertEqual([m.kind for m in result.marks], ["window begin", "window end"])

    def test_what_no_pipe_or_argument_can_have_does_not_raise(self):
        result = self.program("""
            import rubato
            with rubato.window("\\udc80" + 5000 * "x") as w: pass
            print(w.joules)
            for gpu in (object(), "\\ud800", "a\\0b"):
                with rubato.window("a", gpu=gpu) as w: pass
                print(w.joules is None) if not isinstance(gpu, str) else print(w.why)
        """)
        self.assertTrue(result.out.startswith("42.0\n"), result.out)
        self.assertEqual(result.out.count("rubato windows could not be started"), 2, result.out)

    def test_a_program_with_many_open_files_has_windows(self):
        result = self.program("""
            import resource, rubato
            hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            files = [open("/dev/null") for _ in range(1100)]
            with rubato.window("a") as w: pass
            print(w.joules)
        """)
        self.assertEqual(result.out, "42.0\n")

    def test_whatever_fails_inside_a_window_is_a_reason_and_no_error(self):
        result = self.program("""
            import rubato, rubato._stretch as stretch
            def broken(*_): raise RuntimeError("out of order")
            stretch.helper_for = broken
            with rubato.window("a") as w: pass
            print(w.joules, w.why)
        """)
        self.assertEqual(result.out, "None the window could not be measured: RuntimeError: out of order\n")

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


class RealHelperOfTwo(jobs.JobTest):
    """On two simulated GPUs behind the driver's interface, and in the world of a run."""

    SHOW = """
        import rubato, time
        for gpu in {gpus}:
            with rubato.window("w", gpu=gpu, helper=True) as w: time.sleep(0.3)
            print(w.joules is not None, [g["index"] for g in w.gpus], w.why)
        """

    def setUp(self):
        super().setUp()
        self.binary = jobs.built("rubato", "windows")
        self.standin = self.binary.parents[1] / "simgpu"
        if not (self.standin / "libnvidia-ml.so.1").exists():
            self.skipTest(f"{self.standin} holds no simulated driver")

    def show(self, gpus, **environment):
        world = {"RUBATO_SIM_WORLD": self.folder / "world", "XDG_RUNTIME_DIR": self.folder, "XDG_STATE_HOME": self.folder}
        driver = {"LD_LIBRARY_PATH": self.standin, "RUBATO_SIM_PROFILES": "a100,a100"}
        result = self.run_job(
            self.SHOW.format(gpus=gpus), RUBATO_BINARY=self.binary, **{**world, **driver, **environment}
        )
        self.assertEqual((result.code, result.err), (0, ""))
        return result.out.splitlines()

    def uuids(self):
        self.show("(0,)")
        script = "import rubato\nwith rubato.window('w', gpu=[0, 1]) as w: pass\nprint(*[g['uuid'] for g in w.gpus])"
        return self.run_job(
            script, RUBATO_BINARY=self.binary, LD_LIBRARY_PATH=self.standin, RUBATO_SIM_WORLD=self.folder / "world",
            XDG_RUNTIME_DIR=self.folder, XDG_STATE_HOME=self.folder,
        ).out.split()  # fmt: skip

    def test_a_number_is_the_gpu_that_cuda_calls_so_in_this_process(self):
        self.assertEqual(self.show("(1, [1, 0])"), ["True [1] None", "True [1, 0] None"])
        self.assertEqual(self.show("(0, '0', None)", CUDA_VISIBLE_DEVICES="1"), 3 * ["True [1] None"])
        first, second = self.uuids()
        self.assertEqual(self.show(f"(0, {first!r})", CUDA_VISIBLE_DEVICES=second[:12]), ["True [1] None", "True [0] None"])

    def test_a_number_that_is_none_is_named_with_how_many_there_are(self):
        for line, value in zip(self.show("(7, -1, [0, 1])", CUDA_VISIBLE_DEVICES="1,-1,0"), (7, -1, 1)):
            why = f"no GPU {value}: this process sees 1 of 2 GPUs, counted from 0, as CUDA_VISIBLE_DEVICES=1,-1,0 says"
            self.assertEqual(line, f"False [] rubato windows: {why}")
        for line, value in zip(self.show("(7, -1, 1.5)"), (7, -1, 1.5)):
            self.assertRegex(line, rf"^False \[\] rubato windows: no GPU '{value}'; there are: 0: GPU-.*; 1: GPU-")
        self.assertIn("leaves no GPU visible", self.show("(0,)", CUDA_VISIBLE_DEVICES="")[0])

    def test_in_a_run_on_simulated_gpus_it_measures_those(self):
        both = ",".join(self.uuids())
        inside = {"LD_LIBRARY_PATH": "/nonexistent", "RUBATO_SIM_GPUS": both}
        self.assertEqual(self.show("(1, None)", **inside), ["True [1] None", "True [0, 1] None"])
        self.assertEqual(self.show("(0, None)", CUDA_VISIBLE_DEVICES="1", **inside), 2 * ["True [1] None"])
        alone = {"LD_LIBRARY_PATH": "/nonexistent"}
        self.assertIn("no NVIDIA driver", self.show("(None,)", **alone)[0], "a world that no run gave")


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
