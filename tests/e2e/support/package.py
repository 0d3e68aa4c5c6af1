"""Builds projects outside the tree against the installed package, with the build's CMake and compiler."""
import os
import pathlib
import subprocess

from support.harness import FOREBAY

SOURCE = pathlib.Path(os.environ.get("FOREBAY_SOURCE", pathlib.Path(__file__).parents[3]))
BUILD = pathlib.Path(os.environ.get("FOREBAY_BUILD", pathlib.Path(FOREBAY).parents[1]))


def cached(name):
    """Returns a value of the build's CMakeCache.txt."""
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split("=", 1)[1]
    raise KeyError(name)


def cmake(*arguments, status=0):
    """Returns the output of CMake, which has to exit with `status`."""
    done = subprocess.run([cached("CMAKE_COMMAND"), *map(str, arguments)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == status, f"cmake {arguments} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def configure(folder, prefix, *options, status=0):
    """Configures the project in `folder` against the package in `prefix`; returns CMake's output on one line."""
    return " ".join(cmake("-G", cached("CMAKE_GENERATOR"), "-S", folder, "-B", folder / "build",
                          f"-DCMAKE_CXX_COMPILER={cached('CMAKE_CXX_COMPILER')}", f"-DCMAKE_PREFIX_PATH={prefix}",
                          *options, status=status).split())
