"""The wheel: what it brings along, under which licenses, and that it needs nothing else."""
import json
import pathlib
import re
import subprocess
import zipfile

import package
from package import BARE, PLACE, SOURCE, TOOLS
from support.harness import Scenario, main

MOST_BYTES = 25 << 20
USES = """
import json, pathlib
from typing import Any
import forebay

loader = forebay.Loader(pathlib.Path("job.toml"), set={"order.seed": 7})
names: list[str] = loader.schema.dense
for batch in loader:
    array: forebay.Array = batch.labels
    number: int = batch.index + len(batch) + len(loader)
state: dict[str, Any] = loader.state_dict()
loader.load_state_dict(json.loads(json.dumps(state)))
loader.set(**{"pipeline.cpus": 1})
with forebay.Loader({"dataset": {"paths": [pathlib.Path("x")]}}, progress=True) as other:
    stats: forebay.Stats = other.stats()
rate: float = stats["rows_per_second"]
made: forebay.Report = forebay.synth(rows=3, out=pathlib.Path("data"), force=True)
rows: int = forebay.inspect("data/day_0.tsv", pathlib.Path("x"), ops=True)["rows"]
try:
    loader.close()
except forebay.ConfigError as error:
    print(error.key.upper())
"""


def wheel(folder):
    return next((PLACE / folder).glob("forebay-*.whl"))


class Wheel(Scenario):
    def test_it_brings_the_libraries_that_auditwheel_says_and_their_licenses(self):
        shown = subprocess.run([TOOLS / "python", "-m", "auditwheel", "show", "--json", wheel("raw")], capture_output=True, text=True,
                               check=False)
        if shown.returncode != 0:  # versions without --json print the list as JSON among other lines
            shown = subprocess.run([TOOLS / "python", "-m", "auditwheel", "show", wheel("raw")], capture_output=True, text=True, check=True)
        policy = re.search(r"manylinux_(\d+)_(\d+)", wheel("dist").name)
        self.assertIsNotNone(policy)
        needed = set(re.findall(r'"?(lib[\w.+-]+\.so[\w.]*)"?: ', shown.stdout.split("external shared libraries")[-1]))
        with zipfile.ZipFile(wheel("dist")) as archive:
            names = archive.namelist()
            listed = archive.read(next(name for name in names if name.endswith("licenses/LIBRARIES.txt"))).decode()
        rows = [line.split("\t") for line in listed.splitlines()[1:]]
        # auditwheel puts a hash before the first dot of each name.
        brought = {re.sub(r"-[0-9a-f]{8}(?=\.)", "", pathlib.Path(name).name, count=1)
                   for name in names if re.match(r"forebay\.libs/.", name)}
        self.assertGreater(len(brought), 10)
        self.assertLessEqual(brought, {row[0] for row in rows})
        by_file = {row[0]: row for row in rows}
        self.assertLessEqual({by_file[name][1] for name in brought}, needed)
        licenses = {pathlib.Path(name).name for name in names if ".dist-info/licenses/" in name}
        self.assertLessEqual({f"{by_file[name][2]}.txt" for name in brought} | {"LICENSE", "NOTICE"}, licenses)
        self.assertTrue(any(name.startswith("nanobind") for name in licenses))

    def test_it_is_small(self):
        self.assertLess(wheel("dist").stat().st_size, MOST_BYTES)

    def test_it_links_nothing_of_the_machine_that_built_it(self):
        folder = pathlib.Path(package.packages_of(BARE)) / "forebay"
        for file in (*folder.glob("_core*.so"), folder / "bin/forebay"):
            linked = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("not found", linked)
            for name in ("rocksdb", "zmq", "zstd", "crypto"):
                self.assertRegex(linked, rf"lib{name}\S* => {re.escape(str(folder.parent))}")

    def test_it_needs_no_other_package(self):
        done = package.run_python("import sys, forebay; print(sorted({'numpy', 'torch', 'pyarrow'} & set(sys.modules)), forebay.__version__)",
                                  env={"PATH": "/usr/bin:/bin"})
        version = re.search(r"project\(Forebay VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        self.assertEqual((done.stdout, done.stderr), (f"[] {version}\n", ""))
        freeze = subprocess.run([BARE, "-m", "pip", "list", "--format=json"], capture_output=True, text=True, check=True)
        self.assertEqual({each["name"] for each in json.loads(freeze.stdout)} - {"pip", "setuptools"}, {"forebay"})

    def test_both_commands_are_the_program(self):
        said = [subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
                for command in ([BARE.parent / "forebay"], [BARE, "-m", "forebay"])]
        self.assertTrue(said[0].startswith("forebay "))
        self.assertEqual(said[0], said[1])
        job = self.job(order={"batch_size": 100})
        job.put_criteo(200)
        done = subprocess.run([BARE.parent / "forebay", "ingest", "job.toml", "--json"], cwd=job.folder, capture_output=True, text=True,
                              check=True)
        self.assertEqual(json.loads(done.stdout.splitlines()[-1])["rows"], 200)

    def test_what_needs_the_trainer_ends_with_2_and_names_what_has_it(self):
        job = self.job()
        job.put_criteo(200)
        for command in (["train", "job.toml"], ["bench", "train"]):
            done = subprocess.run([BARE.parent / "forebay", *command], cwd=job.folder, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2, done)
            self.assertRegex(done.stderr, r"^forebay: .*the program forebay that `cmake --install` installs, built with libtorch")

    def test_the_types_are_those_of_the_code(self):
        if not (TOOLS / "mypy").exists():
            self.skipTest("mypy is not installed")
        (self.folder / "uses.py").write_text(USES)
        done = subprocess.run([TOOLS / "mypy", "--strict", "--cache-dir", self.folder / "cache", "--python-executable", BARE, "uses.py"],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = subprocess.run([TOOLS / "mypy", "--strict", "--cache-dir", self.folder / "cache", "--python-executable", BARE,
                               "--ignore-missing-imports", "-p", "forebay"], cwd=SOURCE / "python", capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_the_stubs_are_those_of_the_extension(self):
        if not (TOOLS / "stubtest").exists():
            self.skipTest("mypy is not installed")
        # Python cannot make these objects, and nanobind's own class of classes shows nowhere else.
        (self.folder / "allowed").write_text("".join(f"forebay._core.{name}{of}\n" for name in ("Array", "Batch", "Reader")
                                                     for of in ("", "(.__init__)?", "(.__new__)?", "(.__buffer__)?", "(.__release_buffer__)?")))
        done = subprocess.run([TOOLS / "stubtest", "forebay._core", "--allowlist", "allowed", "--ignore-unused-allowlist"], cwd=self.folder,
                              capture_output=True, text=True, check=False, env=package.environment())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    main()
