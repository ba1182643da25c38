"""tools/check_layers on small made-up trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return subprocess.run([sys.executable, ROOT / "tools" / "check_layers", "--root", folder],
                              capture_output=True, text=True, check=False)


class CheckLayers(unittest.TestCase):
    def assert_allowed(self, files):
        result = check(files)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def assert_forbidden(self, files, complaint):
        result = check(files)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(complaint, result.stdout)

    def test_the_project_itself_passes(self):
        result = subprocess.run([sys.executable, ROOT / "tools" / "check_layers"],
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_an_arrow_down_the_table_is_allowed(self):
        self.assert_allowed({"src/govern/a.cpp": '#include "progress/b.h"\n#include <vector>\n#include <fmt/core.h>\n'})

    def test_an_arrow_up_names_file_line_and_what_is_allowed(self):
        self.assert_forbidden({"src/core/a.h": '#pragma once\n#include "wire/message.h"\n'},
                              "src/core/a.h:2: core includes wire/message.h; it may include base")

    def test_angle_brackets_do_not_hide_an_arrow(self):
        self.assert_forbidden({"src/core/a.h": "#include <wire/message.h>\n"}, "core includes wire/message.h")

    def test_a_relative_path_does_not_hide_an_arrow(self):
        self.assert_forbidden({"src/core/a.h": '#include "../wire/message.h"\n', "src/wire/message.h": ""},
                              "core includes wire/message.h")

    def test_a_comment_is_not_an_include(self):
        self.assert_allowed({"src/core/a.h": '// #include "wire/message.h"\n/*\n#include "cli/x.h"\n*/\n'})

    def test_the_guard_sees_the_device_interface_but_no_registry_and_no_backend(self):
        self.assert_allowed({"src/guard/a.cpp": '#include "device/gpu.h"\n'})
        self.assert_forbidden({"src/guard/a.cpp": '#include "device/registry.h"\n'}, "guard includes")
        self.assert_forbidden({"src/guard/a.cpp": '#include "device/nvml/nvml.h"\n'}, "guard includes")

    def test_the_daemon_sees_the_registry_and_no_json(self):
        self.assert_allowed({"src/daemon/a.cpp": '#include "device/registry.h"\n'})
        self.assert_forbidden({"src/daemon/a.cpp": "#include <nlohmann/json.hpp>\n"}, "must not use nlohmann")

    def test_backends_do_not_include_each_other(self):
        self.assert_allowed({"src/device/sim/a.cpp": '#include "device/sim/b.h"\n#include "device/gpu.h"\n'})
        self.assert_forbidden({"src/device/sim/a.cpp": '#include "device/nvml/abi.h"\n'}, "of another backend")

    def test_only_the_registry_knows_backends(self):
        self.assert_allowed({"src/device/registry.cpp": '#include "device/sim/backend.h"\n'})
        self.assert_forbidden({"src/device/gpu.cpp": '#include "device/sim/backend.h"\n'}, "may know one")

    def test_the_stand_in_sees_the_simulated_world_and_nothing_of_nvml_but_its_layout(self):
        self.assert_allowed({"simgpu/a.cpp": '#include "device/sim/world.h"\n#include "device/nvml/abi.h"\n'})
        self.assert_forbidden({"simgpu/a.cpp": '#include "device/nvml/library.h"\n'}, "simgpu includes")
        self.assert_forbidden({"simgpu/a.cpp": '#include "wire/message.h"\n'}, "simgpu includes")

    def test_injected_libraries_see_only_installed_headers(self):
        self.assert_allowed({"inject/a.c": "#include <rubato/mark_layout.h>\n"})
        self.assert_forbidden({"inject/a.c": '#include "base/fd.h"\n'}, "inject includes")

    def test_low_rooms_use_no_formatting_library(self):
        self.assert_forbidden({"src/base/a.cpp": "#include <fmt/core.h>\n"}, "base must not use fmt")

    def test_the_command_line_sees_everything_but_the_daemon(self):
        self.assert_allowed({"src/cli/a.cpp": '#include "device/sim/world.h"\n#include "guard/guard.h"\n'})
        self.assert_allowed({"src/cli/a.cpp": '#include "simgpu/trainer/train.h"\n'})
        self.assert_forbidden({"src/cli/a.cpp": '#include "simgpu/nvml/entry.h"\n'}, "cli includes simgpu/nvml")
        self.assert_forbidden({"src/cli/a.cpp": '#include "daemon/a.h"\n'}, "cli includes daemon/a.h")

    def test_only_the_guard_names_the_writing_interface(self):
        self.assert_allowed({"src/guard/a.cpp": "device::GpuControl* c;\n"})
        self.assert_forbidden({"src/conduct/a.cpp": "\ndevice::GpuControl* c;\n"}, "src/conduct/a.cpp:2: names GpuControl")

    def test_a_folder_that_is_no_room_is_reported(self):
        self.assert_forbidden({"src/misc/a.cpp": ""}, "lies in no room")


if __name__ == "__main__":
    unittest.main()
