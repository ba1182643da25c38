"""web/dist is what web's sources make, told by a hash over them, so that no npm is needed to see it; its pages' policies are narrow."""

import base64
import hashlib
import pathlib
import re
import unittest

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"


class Page:
    """What every page has to keep."""

    name = maker = ""
    folders = ()

    def setUp(self):
        self.page = (WEB / "dist" / self.name).read_text()
        self.policy = re.search(r'Content-Security-Policy" content="([^"]*)"', self.page)[1]

    def test_it_was_made_from_these_sources(self):
        digest = hashlib.sha256()
        names = [f"{folder}/{path.name}" for folder in self.folders for path in sorted((WEB / folder).iterdir(), key=lambda p: p.name)]
        for name in [*names, self.maker, "package-lock.json"]:
            digest.update(f"{name}\n".encode() + (WEB / name).read_bytes())
        self.assertIn(digest.hexdigest(), self.page, "run `npm ci && npm run build` in web/ and commit web/dist")

    def test_its_policy_allows_just_its_own_script_and_style(self):
        for kind in ("script", "style"):
            content = re.search(rf"<{kind}>(.*?)</{kind}>", self.page, re.S)[1]
            told = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertIn(f"{kind}-src 'sha256-{told}'", self.policy)
        self.assertIn("default-src 'none'", self.policy)
        self.assertNotIn("unsafe", self.policy)

    def test_it_names_no_other_place_and_has_the_licence_of_what_it_contains(self):
        addresses = set(re.findall(r"https?://[\w./-]+", self.page)) - {"http://www.w3.org/2000/svg"}
        self.assertEqual(addresses, set())
        self.assertIn("The MIT License (MIT)", self.page)


class Report(Page, unittest.TestCase):
    name, maker, folders = "report.html", "build.mjs", ("src",)

    def test_it_reaches_nobody(self):
        self.assertNotIn("connect-src", self.policy)

    def test_each_place_to_fill_is_there_once(self):
        for place in ("title", "document", "data"):
            self.assertEqual(self.page.count(f"<!--rubato:{place}-->"), 1)


class Dashboard(Page, unittest.TestCase):
    name, maker, folders = "dashboard.html", "build-dashboard.mjs", ("dashboard", "src")

    def test_it_reaches_its_own_server(self):
        self.assertIn("connect-src 'self'", self.policy)


if __name__ == "__main__":
    unittest.main()
