"""The reader of the energy board, and windows that use it instead of a helper."""

import os
import sys
import time

import boards
import jobs

sys.path.insert(0, str(jobs.PYTHON))
from rubato import _board  # noqa: E402


class Board(jobs.JobTest):
    def setUp(self):
        super().setUp()
        os.environ["RUBATO_MARKS"] = str(self.folder)
        self.addCleanup(os.environ.pop, "RUBATO_MARKS")

    def test_it_adds_the_gpus_up_and_goes_on_by_their_power(self):
        ns = boards.write({"GPU-a": (100.0, 30.0), "GPU-b": (20.0, 10.0)}, rate=2.0)
        board = _board.read()
        self.assertEqual([gpu.uuid for gpu in board.gpus], ["GPU-a", "GPU-b"])
        self.assertEqual(board.joules_at(ns), 120.0)
        self.assertEqual(board.joules_at(ns + 500_000_000), 160.0)  # a second of the run's clock at 40 W
        self.assertFalse(board.modelled)

    def test_what_is_no_board_is_none(self):
        gpus = {"GPU-a": (1.0, 1.0)}
        old = time.monotonic_ns() - 6_000_000_000
        for case in (
            {"sequence": 3},
            {"ns": old},
            {"flags": boards.POWER},
            {"flags": boards.KNOWN},
            {"magic": b"RUBMARK1"},
            {"version": 2},
            {"rate": 0.0},
            {"rate": float("nan")},
            {"gpus": {}},
            {"gpus": {"GPU-a": (float("nan"), 1.0)}},
        ):
            with self.subTest(**case):
                boards.write(**{"gpus": gpus, **case})
                self.assertIsNone(_board.read())
        boards.write(gpus)
        self.assertIsNotNone(_board.read())
        whole = boards.path().read_bytes()
        for size in (0, 8, 63, 64, 191):
            boards.path().write_bytes(whole[:size])
            self.assertIsNone(_board.read(), size)
        boards.path().unlink()
        self.assertIsNone(_board.read())

    def test_a_board_that_changes_while_it_is_read_is_read_again(self):
        boards.write({"GPU-a": (1.0, 0.0)})
        old = boards.path().read_bytes()
        boards.write({"GPU-a": (2.0, 0.0)}, sequence=4)
        new = boards.path().read_bytes()

        class Changing:
            pieces = [old, new[:64], new, new[:64]]

            def __enter__(self):
                return self

            def __exit__(self, *_):
                pass

            def seek(self, _):
                pass

            def read(self, _):
                return self.pieces.pop(0)

        _board.open = lambda *_, **__: Changing()
        self.addCleanup(delattr, _board, "open")
        self.assertEqual(_board.read().gpus[0].joules, 2.0)


class BoardWindows(jobs.JobTest):
    def program(self, text, **more):
        result = self.run_job(text, path=[os.path.dirname(__file__)], RUBATO_BINARY="/nowhere/rubato", **more)
        self.assertEqual((result.code, result.err), (0, ""))
        return result

    def test_a_window_under_rubato_starts_no_helper(self):
        result = self.program("""
            import boards, rubato
            boards.write({"GPU-a": (100.0, 0.0, 3.0, 5.0), "GPU-b": (7.0, 0.0, 0.0, 0.35)})
            with rubato.window("epoch") as w:
                boards.write({"GPU-a": (140.0, 0.0, 4.0, 7.0), "GPU-b": (9.0, 0.0, 0.0, 0.45)})
            print(w.joules, w.band_sampling_joules, round(w.band_calibration_joules, 9), w.why, w.source)
            print([(g["uuid"], g["energy_j"], g["kind"]) for g in w.gpus], w.seconds > 0)
        """)
        self.assertEqual(
            result.out,
            "42.0 5.0 2.1 None energy board of the run, edges by the power last read\n"
            "[('GPU-a', 40.0, 'measured'), ('GPU-b', 2.0, 'measured')] True\n",
        )
        self.assertEqual(
            [(m.kind, m.name) for m in result.marks], [("window begin", "epoch"), ("window end", "epoch")]
        )

    def test_the_band_has_what_the_edges_may_be_off(self):
        result = self.program("""
            import boards, rubato, time
            boards.write({"GPU-a": (0.0, 100.0)}, ns=time.monotonic_ns() - 200_000_000, flags=7)
            with rubato.window("a") as w: pass
            print(w.joules < 5, 39.9 < w.band_sampling_joules < 60, w.gpus[0]["kind"])
        """)
        self.assertEqual(result.out, "True True modelled\n")  # 0.2 s of 100 W at either edge

    def test_a_board_that_goes_away_is_no_zero(self):
        result = self.program("""
            import boards, rubato
            boards.write({"GPU-a": (1.0, 1.0), "GPU-b": (1.0, 1.0)})
            with rubato.window("a") as w: boards.path().unlink()
            print(w.joules, w.why)
            boards.write({"GPU-a": (1.0, 1.0), "GPU-b": (1.0, 1.0)})
            with rubato.window("b") as w: boards.write({"GPU-a": (2.0, 1.0)}, flags=boards.POWER)
            print(w.joules, w.why)
        """)
        self.assertEqual(result.out, "None rubato publishes the energy of this run no longer\n" * 2)

    def test_meters_of_the_run_stand_beside_the_gpus(self):
        result = self.program("""
            import boards, rubato
            one, two, ram = (("rapl", name, scope) for name, scope in
                             (("package-0", "cpu_package"), ("package-1", "cpu_package"), ("dram-0", "dram")))
            late = ("rack", "outlet-1", "node")
            twice = ("hwmon", "cpu", "cpu_package")
            gpus = {"GPU-a": (100.0, 0.0)}
            boards.write(gpus, channels={one: (10.0, 0.0), two: (1.0, 0.0), ram: (5.0, 0.0), late: None, twice: (0.0, 0.0)})
            with rubato.window("epoch") as w:
                boards.write({"GPU-a": (140.0, 0.0)},
                             channels={one: (30.0, 0.0), two: (4.0, 0.0), ram: (6.5, 0.0), late: (9.0, 0.0), twice: (25.0, 0.0)})
            print(w.joules, w.cpu_joules, w.dram_joules)
            print([(m["meter"], m["channel"], m["scope"], m["energy_j"]) for m in w.meters])
            print(w.meters[-1]["why_missing"])
            with rubato.window("none", energy=False) as w: pass
            print(w.cpu_joules, w.meters)
        """)
        self.assertEqual(
            result.out,
            "40.0 23.0 1.5\n"
            "[('rapl', 'package-0', 'cpu_package', 20.0), ('rapl', 'package-1', 'cpu_package', 3.0),"
            " ('rapl', 'dram-0', 'dram', 1.5), ('hwmon', 'cpu', 'cpu_package', 25.0), ('rack', 'outlet-1', 'node', None)]\n"
            "rack, outlet-1: it told nothing at one of the edges\n"
            "None []\n",
        )

    def test_without_a_gpu_the_meters_are_there_all_the_same(self):
        result = self.program("""
            import boards, rubato
            package = ("rapl", "package-0", "cpu_package")
            boards.write({}, channels={package: (10.0, 0.0)})
            with rubato.window("epoch") as w: boards.write({}, channels={package: (30.0, 0.0)})
            print(w.joules, w.cpu_joules, w.why)
            from rubato import _scalars
            _scalars.epoch_begins("epoch", 0)
            print(_scalars.epoch_ended("epoch", 0, 10**18))
        """)
        self.assertEqual(result.out, "None 20.0 no GPU was measured\nNone\n")

    def test_a_gpu_on_the_first_board_alone_is_not_the_jobs(self):
        result = self.program("""
            import boards, rubato
            boards.write({"GPU-a": (10.0, 0.0), "GPU-b": (50.0, 0.0)})  # which of them the job uses is not known yet
            with rubato.window("epoch") as w: boards.write({"GPU-b": (57.0, 0.0)})
            print(w.joules, w.why, [g["uuid"] for g in w.gpus])
        """)
        self.assertEqual(result.out, "7.0 None ['GPU-b']\n")

    def test_a_gpu_that_joins_inside_makes_no_part_of_a_sum(self):
        result = self.program("""
            import boards, rubato
            boards.write({"GPU-a": (10.0, 0.0)})
            with rubato.window("epoch") as w: boards.write({"GPU-a": (20.0, 0.0), "GPU-b": (57.0, 0.0)})
            print(w.joules, w.why, [g["energy_j"] for g in w.gpus])
        """)
        self.assertEqual(result.out, "None GPU-b began to be used inside the window [10.0, None]\n")

    def test_a_gpu_asked_for_a_helper_asked_for_and_a_part_of_the_gpus_take_the_helper(self):
        result = self.program("""
            import boards, os, rubato
            boards.write({"GPU-a": (1.0, 1.0), "GPU-b": (1.0, 1.0)})
            for more in ({"gpu": "0"}, {"helper": True}, {}):
                with rubato.window("a", **more) as w: pass
                print("could not be started" in (w.why or ""))
                os.environ["CUDA_VISIBLE_DEVICES"] = "1"
            os.environ["CUDA_VISIBLE_DEVICES"] = "2,3"
            with rubato.window("a") as w: pass
            print(w.why)
        """)
        self.assertEqual(result.out, "True\nTrue\nTrue\nNone\n")
