"""tools/check_file_sizes at its two limits."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def check(lines):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "src/base/a.cpp")
        path.parent.mkdir(parents=True)
        path.write_text("x\n" * lines)
        return subprocess.run([sys.executable, ROOT / "tools" / "check_file_sizes", "--root", folder],
                              capture_output=True, text=True, check=False)


class CheckFileSizes(unittest.TestCase):
    def test_350_lines_are_not_large(self):
        result = check(350)
        self.assertEqual((result.returncode, "large" in result.stdout), (0, False))

    def test_351_lines_are_reported_and_pass(self):
        result = check(351)
        self.assertEqual(result.returncode, 0)
        self.assertIn("src/base/a.cpp: 351 lines is large", result.stdout)

    def test_601_lines_fail(self):
        result = check(601)
        self.assertEqual(result.returncode, 1)
        self.assertIn("601 lines, more than 600", result.stdout)


if __name__ == "__main__":
    unittest.main()
