#!/usr/bin/env python3
"""Collects the licenses of what a wheel of PROGRAM brings along: of its shared libraries, as Debian's packages have them,
and of what is compiled into it. LIBRARIES.txt says which file is of which package.
usage: python_licenses.py PROGRAM FOLDER"""
import importlib.metadata
import pathlib
import re
import shutil
import subprocess
import sys

# Parts of every Linux of the wheel's age (PEP 600), which the wheel therefore does not bring along.
EVERYWHERE = re.compile(r"(?:ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libresolv|libnsl|libutil|libgcc_s|libstdc\+\+)\.so")
HEADERS = {  # compiled in, by the package that has the license
    "libcli11-dev", "libexpected-dev", "libtomlplusplus-dev", "nlohmann-json3-dev", "cppzmq-dev"}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """The shared libraries that `program` links, all the way down: {name: path}."""
    found = dict(re.findall(r"(\S+) => (/\S+)", output("ldd", program)))
    return {name: pathlib.Path(path).resolve() for name, path in found.items() if not EVERYWHERE.match(name)}


def package_of(path):
    """The Debian package of a file. dpkg may know it by its name before /lib became a link."""
    for name in (str(path), str(path).removeprefix("/usr")):
        done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.split(":")[0]
    raise SystemExit(f"python_licenses: no package has {path}, so that its license is unknown")


def version_of(package):
    return output("dpkg-query", "-W", "-f", "${Version}\n", package).split("\n")[0]


def license_of(package):
    return pathlib.Path("/usr/share/doc", package, "copyright").resolve(strict=True)


def main(program, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    top = pathlib.Path(__file__).resolve().parents[1]
    for own in ("LICENSE", "NOTICE"):
        shutil.copy(top / own, folder / own)
    lines = []
    for name, path in sorted(libraries(program).items()):
        package = package_of(path)
        lines.append(f"{path.name}\t{name}\t{package}\t{version_of(package)}")
        shutil.copy(license_of(package), folder / f"{package}.txt")
    for package in sorted(HEADERS):
        shutil.copy(license_of(package), folder / f"{package}.txt")
    nanobind = importlib.metadata.distribution("nanobind")
    for file in nanobind.files or []:
        if "licenses" in file.parts or file.name == "LICENSE":
            shutil.copy(nanobind.locate_file(file), folder / f"nanobind-{'-'.join(file.parts[-2:])}.txt")
    (folder / "LIBRARIES.txt").write_text("\n".join(["file\tlibrary\tpackage\tversion", *lines]) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
