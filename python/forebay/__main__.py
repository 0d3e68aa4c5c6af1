"""The command line: `forebay` and `python -m forebay` become the program that the package brings along."""
import os
import pathlib
import sys
from typing import NoReturn


def main() -> NoReturn:
    if sys.executable:  # runs the job's functions in Python
        os.environ.setdefault("FOREBAY_PYTHON", sys.executable)
    program = pathlib.Path(__file__).parent / "bin" / "forebay"
    try:
        os.execv(program, ["forebay", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"forebay: {program}: {error.strerror}; install the package again")


if __name__ == "__main__":
    main()
