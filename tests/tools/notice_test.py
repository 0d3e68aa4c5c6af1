"""NOTICE names every library that the build links, with its licence, and no other one."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parent.parent.parent
TOOLS = {"build-essential", "cmake", "ninja-build", "pkg-config"}


class Notice(unittest.TestCase):
    def test_names_the_libraries_of_the_build(self):
        packages = re.search(r'^build="([^"]*)"', (ROOT / "tools/packages.sh").read_text(), re.M)[1].split()
        listed = (ROOT / "NOTICE").read_text().split("It links these libraries")[1].split("for development:")[1]
        named = re.findall(r"([\w+.-]+)\s\([^)]+\)", listed)
        self.assertEqual(sorted(named), sorted(set(packages) - TOOLS))


if __name__ == "__main__":
    unittest.main()
