"""web/dist is what web/src makes: told by a hash over the sources, so that no npm is needed to see it."""

import base64
import hashlib
import pathlib
import re
import unittest

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"


class Dist(unittest.TestCase):
    def setUp(self):
        self.page = (WEB / "dist" / "report.html").read_text()

    def test_it_was_made_from_these_sources(self):
        digest = hashlib.sha256()
        names = [f"src/{path.name}" for path in sorted((WEB / "src").iterdir(), key=lambda p: p.name)]
        for name in [*names, "build.mjs", "package-lock.json"]:
            digest.update(f"{name}\n".encode() + (WEB / name).read_bytes())
        self.assertIn(digest.hexdigest(), self.page, "run `npm ci && npm run build` in web/ and commit web/dist")

    def test_its_policy_allows_just_its_own_script_and_style(self):
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', self.page)[1]
        for kind in ("script", "style"):
            content = re.search(rf"<{kind}>(.*?)</{kind}>", self.page, re.S)[1]
            told = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertIn(f"{kind}-src 'sha256-{told}'", policy)
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)

    def test_it_names_no_other_place_and_has_the_licence_of_what_it_contains(self):
        addresses = set(re.findall(r"https?://[\w./-]+", self.page)) - {"http://www.w3.org/2000/svg"}
        self.assertEqual(addresses, set())
        self.assertIn("The MIT License (MIT)", self.page)
        for place in ("title", "document", "data"):
            self.assertEqual(self.page.count(f"<!--rubato:{place}-->"), 1)


if __name__ == "__main__":
    unittest.main()
