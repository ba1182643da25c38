"""web/dist/dashboard.html is what web/dashboard and web/src make, and its policy is as narrow as it can be."""

import base64
import hashlib
import pathlib
import re
import unittest

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"


class Dist(unittest.TestCase):
    def setUp(self):
        self.page = (WEB / "dist" / "dashboard.html").read_text()

    def test_it_was_made_from_these_sources(self):
        digest = hashlib.sha256()
        names = [f"{folder}/{path.name}" for folder in ("dashboard", "src") for path in sorted((WEB / folder).iterdir(), key=lambda p: p.name)]
        for name in [*names, "build-dashboard.mjs", "package-lock.json"]:
            digest.update(f"{name}\n".encode() + (WEB / name).read_bytes())
        self.assertIn(digest.hexdigest(), self.page, "run `npm ci && npm run build` in web/ and commit web/dist")

    def test_its_policy_allows_just_its_own_script_and_style_and_its_own_server(self):
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', self.page)[1]
        for kind in ("script", "style"):
            content = re.search(rf"<{kind}>(.*?)</{kind}>", self.page, re.S)[1]
            told = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertIn(f"{kind}-src 'sha256-{told}'", policy)
        self.assertIn("default-src 'none'", policy)
        self.assertIn("connect-src 'self'", policy)
        self.assertNotIn("unsafe", policy)

    def test_it_names_no_other_place_and_has_the_licence_of_what_it_contains(self):
        self.assertEqual(set(re.findall(r"https?://[\w./-]+", self.page)) - {"http://www.w3.org/2000/svg"}, set())
        self.assertIn("The MIT License (MIT)", self.page)


if __name__ == "__main__":
    unittest.main()
