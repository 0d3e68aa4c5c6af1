"""The examples: several ranks by DistributedDataParallel, TorchRec, a job as a dict."""
import os
import re
import socket
import subprocess


import package
from package import BARE, SOURCE, TOOLS, environment
from support.harness import Scenario, main

EXAMPLES = SOURCE / "examples/python"
HAS_RANKS = """
import sys, forebay
try:
    forebay.Loader(sys.argv[1], rank=0, world_size=2).close()
except forebay.ConfigError as error:
    sys.exit(str(error))
"""


class Examples(Scenario):
    def setUp(self):
        super().setUp()
        self.files = self.job(order={"batch_size": 40})
        self.files.put_criteo(2000)  # 50 batches
        self.path = self.files.folder / "job.toml"

    def start(self, python, program, *arguments, **changes):
        process = subprocess.Popen([python, EXAMPLES / program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.folder, env={**environment(), **changes})
        self.addCleanup(process.kill)
        return process

    def said(self, process):
        out, err = process.communicate(timeout=200)
        self.assertEqual(process.returncode, 0, err)
        return out

    def test_a_job_may_be_a_dict(self):
        said = self.said(self.start(BARE, "job_as_dict.py", self.folder / "rows"))
        self.assertIn("50,000 rows in 2 files\nepoch 0: 50,000 rows in 13 batches, 15.", said)
        self.assertRegex(said, r"read +100,000 rows in 26 batches\n")

    def test_torchrec_trains_or_the_program_says_that_it_is_missing(self):
        python = package.python_with("torchrec", TOOLS / "python", "/usr/bin/python3", *filter(None, [os.environ.get("FOREBAY_TORCH_PYTHON")]))
        process = self.start(python or BARE, "train_torchrec.py", self.path, 3)
        out, err = process.communicate(timeout=200)
        if python is None:
            self.assertEqual(process.returncode, 1)
            self.assertRegex(err, r"^train_torchrec: TorchRec cannot be used here \(No module named 'torch.*pip install torchrec")
        else:
            self.assertRegex(out, r"batch 2: loss \d\.\d{4}\n", err)

    def test_ranks_of_ddp_train_what_one_trains(self):
        python = package.python_with("torch", TOOLS / "python", "/usr/bin/python3")
        if python is None:
            self.skipTest("torch is not installed")
        refused = package.run_python(HAS_RANKS, self.path)
        if refused.returncode != 0:
            self.assertIn("world_size", refused.stderr)
            self.skipTest("this version has one rank alone")
        results = {}
        for ranks in (1, 2):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            # The environment that torchrun makes.
            processes = [self.start(python, "train_ddp.py", self.path, self.folder / f"{ranks}.pt", RANK=str(rank), LOCAL_RANK=str(rank),
                                    WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), OMP_NUM_THREADS="1")
                         for rank in range(ranks)]
            said = [self.said(process) for process in processes]
            rows, count, loss = re.fullmatch(r"(\d+) rows on (\d+) ranks, mean loss ([\d.]+)\n", said[0]).groups()
            self.assertEqual((int(rows), int(count), said[1:]), (2000, ranks, [""] * (ranks - 1)))
            results[ranks] = float(loss)
        self.assertAlmostEqual(results[1], results[2], places=3)


if __name__ == "__main__":
    main()
