"""rubato import: files of other tools become a sweep table, or are refused with file and line."""

import os
import unittest

from harness import MachineTest

POWER = ("dataset,network,batch_size,optimizer,power_limit,time_per_epoch,average_power\n"
         "cifar100,resnet50,64,adam,250,10,200\n"
         "cifar100,resnet50,64,adam,150,12,140\n")


class Import(MachineTest):
    def setUp(self):
        self.box = self.machine()

    def file(self, name, text):
        path = self.box.folder / name
        path.write_text(text)
        return path

    def test_a_table_is_printed_or_written_and_kept_unless_forced(self):
        source = self.file("summary_power_v100.csv", POWER)
        printed = self.box.run("import", "zeus-power", source)
        self.assertEqual(printed.returncode, 0, printed.stderr)
        lines = [line for line in printed.stdout.splitlines() if not line.startswith("#")]
        self.assertEqual(lines[1], "V100,cifar100/resnet50/b64/adam,cifar100/resnet50,250,,,10,200,2000")
        target = self.box.folder / "table.csv"
        self.assertEqual(self.box.run("import", "zeus-power", source, "-o", target).returncode, 0)
        self.assertEqual(target.read_text(), printed.stdout)
        self.assertNotEqual(self.box.run("import", "zeus-power", source, "-o", target).returncode, 0)
        self.assertEqual(self.box.run("import", "zeus-power", source, "-o", target, "--force").returncode, 0)

    def test_what_replaces_a_file_stands_where_a_link_leads_and_is_readable_to_the_same_people(self):
        source = self.file("summary_power_v100.csv", POWER)
        target = self.file("private.csv", "old\n")
        target.chmod(0o600)
        link = self.box.folder / "link.csv"
        link.symlink_to(target)
        self.assertEqual(self.box.run("import", "zeus-power", source, "-o", link, "--force").returncode, 0)
        self.assertTrue(link.is_symlink())
        self.assertIn("V100", target.read_text())
        self.assertEqual(target.stat().st_mode & 0o777, 0o600)
        self.assertEqual(sorted(p.name for p in self.box.folder.glob("*.part")), [])

    @unittest.skipUnless(os.geteuid() == 0, "only root can lay another user's link")
    def test_a_link_that_somebody_else_laid_is_replaced_and_not_followed(self):
        source = self.file("summary_power_v100.csv", POWER)
        target = self.file("private.csv", "old\n")
        link = self.box.folder / "link.csv"
        link.symlink_to(target)
        os.chown(link, 65534, 65534, follow_symlinks=False)
        self.assertEqual(self.box.run("import", "zeus-power", source, "-o", link, "--force").returncode, 0)
        self.assertEqual(target.read_text(), "old\n")
        self.assertFalse(link.is_symlink())
        self.assertIn("V100", link.read_text())

    def test_a_bad_line_is_named_and_nothing_is_written(self):
        source = self.file("summary_power_v100.csv", POWER + "cifar100,resnet50,64,adam,125,-3,120\n")
        target = self.box.folder / "table.csv"
        done = self.box.run("import", "zeus-power", source, "-o", target)
        self.assertEqual(done.returncode, 125)
        self.assertIn("summary_power_v100.csv, line 4: column time_per_epoch: '-3' must be above zero", done.stderr)
        self.assertFalse(target.exists())

    def test_what_was_typed_wrong_is_answered(self):
        source = self.file("summary_power_v100.csv", POWER)
        self.assertEqual(self.box.run("import", "zeus", source).returncode, 125)
        self.assertEqual(self.box.run("import", "zeus-power", self.box.folder / "missing.csv").returncode, 125)
        unnamed = self.file("power.csv", POWER)
        self.assertIn("--gpu-name", self.box.run("import", "zeus-power", unnamed).stderr)
        self.assertEqual(self.box.run("import", "zeus-power", unnamed, "--gpu-name", "V100").returncode, 0)


if __name__ == "__main__":
    unittest.main()
