"""Which files tools/lint/tidy.py looks at together after clang's complaints about all of them."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools/lint"))
import tidy  # noqa: E402

PATHS = ["core/a.cpp", "core/b.cpp", "core/c.cpp", "core/d.cpp"]


def error(path, kind="error"):
    return f"{pathlib.Path(path).absolute()}:12:7: {kind}: redefinition of 'kMost'\n"


class Parted(unittest.TestCase):
    def test_files_with_errors_are_looked_at_apart(self):
        said = error("core/b.cpp") + error("core/d.cpp") + error("core/d.cpp", "fatal error") + error("core/a.cpp", "note")
        self.assertEqual(tidy.parted(PATHS, said), (["core/a.cpp", "core/c.cpp"], ["core/b.cpp", "core/d.cpp"]))

    def test_errors_in_a_header_alone_make_two_halves(self):
        self.assertEqual(tidy.parted(PATHS, error("core/a.h")), (PATHS[:2], PATHS[2:]))

    def test_errors_in_every_file_make_two_halves(self):
        self.assertEqual(tidy.parted(PATHS, "".join(map(error, PATHS))), (PATHS[:2], PATHS[2:]))


if __name__ == "__main__":
    unittest.main()
