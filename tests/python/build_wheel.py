"""Builds the wheel for the other tests; skipped where PyPI, or Python's headers, are not to be had."""
import os
import subprocess
import sys

from package import SKIPPED, SOURCE, TOOLS


def main():
    script = str(SOURCE / "tools/python.sh")
    # What the network lacks is no fault of the tree; what is there has to build.
    tools = subprocess.run([script, "--tools"], check=False)
    if tools.returncode != 0 or not (TOOLS / "auditwheel").exists():
        print("skipped: PyPI does not give the packages that build a wheel")
        sys.exit(SKIPPED)
    sys.exit(subprocess.run([script], check=False, env={**os.environ, "FOREBAY_BUILT": "1"}).returncode)


if __name__ == "__main__":
    main()
