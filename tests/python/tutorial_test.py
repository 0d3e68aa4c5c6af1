"""The tutorial: its Python runs from top to bottom, in an empty folder."""
import contextlib
import io
import os
import re

import package
from package import SOURCE, TOOLS
from support.harness import Scenario, main

package.run_again_with("torch", TOOLS / "python", "/usr/bin/python3", "python3")

PAGE = SOURCE / "python/TUTORIAL.md"


def blocks():
    """The blocks of Python, each at its line of the page, so that a failure names it."""
    text = PAGE.read_text()
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield compile("\n" * text.count("\n", 0, match.start(1)) + match[1], PAGE, "exec")


class Tutorial(Scenario):
    def test_its_blocks_run_one_after_the_other(self):
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)
        names, said, count = {"__name__": "tutorial"}, io.StringIO(), 0
        with contextlib.redirect_stdout(said):
            for block in blocks():
                exec(block, names)
                count += 1
        self.assertGreater(count, 8)
        for words in ("best_auc", "rows/s over", "key: order.sed", " bytes"):
            self.assertIn(words, said.getvalue())
        first, last = map(float, re.search(r"loss ([\d.]+) at first, ([\d.]+) in the end", said.getvalue()).groups())
        self.assertLess(last, first)


if __name__ == "__main__":
    main()
