"""A headless browser for the tests of pages: one per test program, a fresh page per test, and what it complained about."""

import contextlib
import pathlib
import site
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
UNPACKED = ROOT / "build" / "browser"
PATIENCE_MS = 120_000


def missing():
    """Why there is no browser, or nothing."""
    try:
        parts = dict(line.split("\t", 1) for line in (UNPACKED / "status").read_text().splitlines())
    except FileNotFoundError:
        return "there is no browser here: tools/unpack-test-browser fetches one"
    return next((f"{name}: {state}" for name, state in parts.items() if state != "ok"), None)


@contextlib.contextmanager
def browser():
    for packages in (UNPACKED / "venv" / "lib").glob("python3*/site-packages"):
        site.addsitedir(str(packages))
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Root may not use Chromium's own sandbox, and what is shown are our own files.
        started = playwright.chromium.launch(executable_path=str(UNPACKED / "chromium"), args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


class PageTest(unittest.TestCase):
    """Opens files; a test fails where the browser complained or asked anything of a network."""

    @classmethod
    def setUpClass(cls):
        why = missing()
        if why:
            raise unittest.SkipTest(why)
        cls.browser = cls.enterClassContext(browser())

    def open(self, file, ready=True, script=None, **options):
        """`script`: runs before anything of the page does."""
        context = self.browser.new_context(**options)
        if script:
            context.add_init_script(script)
        self.addCleanup(context.close)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        self.complaints, self.requests = [], []
        page.on("console", lambda m: m.type in ("error", "warning") and self.complaints.append(m.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(file.as_uri())
        if ready:
            page.wait_for_selector("html[data-ready]", state="attached")
        return page

    def assert_quiet(self):
        self.assertEqual(self.complaints, [])
        self.assertEqual([url for url in self.requests if not url.startswith(("file:", "data:", "blob:"))], [])

    def assert_accessible(self, page):
        """WCAG 2.1 A and AA as far as axe-core can tell, contrast among it."""
        page.evaluate((UNPACKED / "package" / "axe.min.js").read_text())
        found = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")
        said = [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]} {v['nodes'][0].get('failureSummary', '')}" for v in found["violations"]]
        self.assertEqual(said, [])


def wait(page, condition, argument=None):
    """Until a function of the page is true. Asked again and again from here: a page's policy forbids what
    Playwright's own wait_for_function does, to make code of text inside it."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not page.evaluate(condition, argument):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE_MS / 1000} s for: {condition}")
        time.sleep(0.02)


def wait_for_samples(page, test):
    """Until the first row of the table under the charts has so many samples as `test` (JavaScript of n) says."""
    wait(page, "() => { const n = Number(document.querySelector('#in-view tbody td:nth-child(3)').textContent.replace(/\\D/g, ''));"
               f" return {test}; }}")


def in_view(page):
    """The table under the charts: (quantity, of) -> its cells."""
    rows = page.eval_on_selector_all("#in-view tbody tr", "rows => rows.map(r => [...r.children].map(c => c.textContent))")
    return {(row[0], row[1]): row[2:] for row in rows}


def figure(text):
    """The number of a cell: "1 234.5 W", with a true minus sign."""
    return float(text.replace("\u2212", "-").replace("\u202f", "").replace("\u2009", "").replace(" ", "").rstrip("WMHz°Cs%"))
