"""Runs tools/python_asan.sh; skipped where the wheel could not be built, or without GCC's sanitizers."""
import pathlib
import subprocess
import sys

from package import BARE, SKIPPED, SOURCE


def main():
    if not BARE.exists():
        print("skipped: the wheel was not built")
        sys.exit(SKIPPED)
    library = subprocess.run(["g++", "-print-file-name=libasan.so"], check=True, capture_output=True, text=True).stdout.strip()
    if not pathlib.Path(library).is_absolute():
        print("skipped: libasan is not installed")
        sys.exit(SKIPPED)
    sys.exit(subprocess.run([SOURCE / "tools/python_asan.sh"], check=False).returncode)


if __name__ == "__main__":
    main()
