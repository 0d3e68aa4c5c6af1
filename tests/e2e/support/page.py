"""A job that serves its page, and Chromium to look at it."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import urllib.request

from support.browser import Browser
from support.harness import Running, Scenario

SERIOUS = {"serious", "critical"}


def address_of(running):
    """Where a run that has begun serves its page."""
    return re.search(r"dashboard: (http://\S+)", running.stderr_now())[1]


class Served(Scenario):
    """A slow job with a page."""

    def setUp(self):
        super().setUp()
        # Rows of 300 µs, more than a test waits for.
        self.slow = self.job(order={"batch_size": 100, "epochs": 100}, transform=[{"op": "spin", "microseconds": 300}],
                             tuner={"period": "500ms"}, run={"dashboard": "127.0.0.1:0"})
        self.slow.put_criteo(4000, files=2)

    def started(self, *options, job=None, command="ingest"):
        running = (job or self.slow).start(command, *options)
        self.addCleanup(lambda: running.process.returncode is None and running.signal(9))
        self.wait_until(lambda: "dashboard: http://" in running.stderr_now() or not running.alive(), 60)
        return running, address_of(running)

    def get(self, address, path):
        return json.loads(urllib.request.urlopen(address + path, timeout=20).read())

    def refused(self, address, path, method="GET", **headers):
        """The status of a request that is refused."""
        host = re.match(r"http://([^/]+)/", address)[1]
        with contextlib.closing(http.client.HTTPConnection(host, timeout=20)) as connection:
            connection.request(method, path, headers=headers)
            return connection.getresponse().status

    def stopped(self, running):
        running.signal(signal.SIGTERM)
        ended = running.wait()
        self.assertEqual(ended.status, 143, ended)
        return ended

    def report(self, *folders, out="run.html"):
        ended = Running(["report", *folders, "--out", out, "--json"], self.folder).wait(60)
        self.assertEqual(self.assert_done(ended)["output"], out)
        return self.folder / out


class InChromium(Served):
    """A page in Chromium; without one, its tests are skipped."""

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def shown(self, name, widths=(400, 2000)):
        """Checks that the page fits its window, is accessible and has asked nobody else; takes pictures."""
        for width in widths:
            self.browser.resize(width)
            self.browser.wait(f"document.documentElement.scrollWidth <= {width}", 10)
            if os.environ.get("FOREBAY_PICTURES"):
                self.browser.picture(pathlib.Path(os.environ["FOREBAY_PICTURES"]) / f"{name}-{width}.png")
        self.assertEqual([each for each in self.browser.violations() if each["impact"] in SERIOUS], [])
