"""A headless Chromium, driven through browser.mjs."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ.get("FOREBAY_SOURCE", pathlib.Path(__file__).parents[3]))
CHROMIUM = shutil.which("chromium")


class Browser:
    """Opens one page at a time. Raises SkipTest where Chromium, Node.js or the npm registry is missing."""

    def __init__(self):
        if not CHROMIUM:
            raise unittest.SkipTest("chromium is not installed")
        tools = subprocess.run([SOURCE / "tools/page.sh", "--tools"], capture_output=True, text=True)
        if tools.returncode != 0:
            raise unittest.SkipTest("no packages for the browser: " + (tools.stderr.strip().splitlines() or ["npm failed"])[-1])
        self.process = subprocess.Popen(["node", pathlib.Path(__file__).with_name("browser.mjs"), CHROMIUM],
                                        cwd=tools.stdout.strip(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def _ask(self, command, **words):
        self.process.stdin.write(json.dumps({"command": command, **words}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline() or '{"error": "the browser ended"}')
        if "error" in answer:
            raise AssertionError(f"{command} {words}: {answer['error']}")
        return answer["value"]

    def open(self, url, width=1280, dark=False, behind=0):
        """Opens a page. The browser's clock is `behind` by so many seconds."""
        self._ask("open", url=str(url), width=width, dark=dark, behind=behind)

    def wait(self, script, seconds=60):
        """Waits until an expression in the page is true."""
        self._ask("wait", script=script, seconds=seconds)

    def ask(self, script):
        return self._ask("ask", script=script)

    def text(self, selector):
        return self.ask(f"document.querySelector({json.dumps(selector)}).innerText")

    def follow(self, selector):
        """Clicks on a link and waits for the page that it leads to."""
        self._ask("follow", selector=selector)

    def resize(self, width):
        self._ask("resize", width=width)

    def press(self, key):
        self._ask("press", key=key)

    def picture(self, path):
        self._ask("picture", path=str(path))

    def violations(self):
        """What axe-core finds on the page."""
        return self._ask("axe")

    def heard(self):
        """The addresses that the page asked for, and its errors."""
        return self._ask("heard")
