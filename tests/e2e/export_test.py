"""Export end to end: Python's torch computes the trainer's own figures from the file."""
import itertools
import json
import random
import subprocess
import sys

from support.harness import MIB, Running, Scenario, main

LOG = {"op": "log1p", "columns": ["I*"]}
HASH = {"op": "sigrid_hash", "columns": ["C*"], "salt": 0, "max_value": 5000}
# Tables of all storages, and every model; ids are not folded where tables are hashed.
JOBS = [("memory", "dlrm", "sum"), ("memory", "dcn_v2", "mean"), ("memory", "wide_deep", "sum"),
        ("memory", "deepfm", "sum"), ("hashed", "dlrm", "sum"), ("hashed", "deepfm", "mean"),
        ("tiered", "dlrm", "sum"), ("tiered", "wide_deep", "sum")]

NETWORKS = ("dlrm", "dcn_v2", "wide_deep", "deepfm")
STORAGES = ("memory", "hashed", "tiered")


def rows_of_lists(rows, seed, fresh):
    """CSV with lists of none to eleven ids, some twice; `fresh`: ids from the ends of int64 and of no other row too."""
    draw = random.Random(seed)
    lines = ["click,age,price,shop,tags,seen"]

    def an_id(most):
        if fresh and draw.random() < 0.2:
            return draw.choice([2**63 - 1, -2**63, 10**12 + draw.randrange(10**6)])
        return draw.choice([draw.randrange(most), draw.randrange(40), -draw.randrange(1, 40)])

    for _ in range(rows):
        tags = [an_id(5000) for _ in range(draw.choice([0, 0, 1, 2, 5, 9]))]
        tags += tags[:2] if draw.random() < 0.3 else []
        seen = [an_id(300) for _ in range(draw.choice([0, 1, 3]))]
        shop = an_id(60)
        age = draw.gauss(0, 1)
        logit = age + sum(0.4 if tag % 2 else -0.4 for tag in tags) + shop % 3 - 1
        lines.append(",".join([str(int(draw.random() < 1 / (1 + 2.718**-logit))), f"{age:.4f}",
                               "" if draw.random() < 0.1 else f"{draw.random():.3f}",
                               "" if draw.random() < 0.1 else str(shop), "|".join(map(str, tags)),
                               "|".join(map(str, seen))]))
    return "\n".join(lines) + "\n"


# Scores the rows of a dump with exported models; prints each one's AUC and log loss.
SCORE = """
import json, math, sys
import torch
torch.set_num_threads(1)

def figures(model_file, dump_file):
    model = torch.jit.load(model_file)
    told = json.loads(model.forebay)
    header, *rows = [line.rstrip("\\n").split("\\t") for line in open(dump_file)]
    column = {name: place for place, name in enumerate(header)}
    labels = torch.tensor([float(row[column["label"]]) for row in rows])
    dense = torch.tensor([[float(row[column[name]]) for name in told["dense"]] for row in rows])
    lists = [[row[column[table["name"]]].split(",") if row[column[table["name"]]] else [] for row in rows]
             for table in told["tables"]]
    lengths = torch.tensor([[len(ids) for ids in one] for one in lists], dtype=torch.int32)
    ids = torch.tensor([int(each) for one in lists for ids in one for each in ids], dtype=torch.int64)
    with torch.no_grad():
        scores = model(dense, ids, lengths).double()
    loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, labels.double()).item()
    negatives, positives = scores[labels == 0].sort().values, scores[labels == 1]
    below = torch.searchsorted(negatives, positives).double()
    not_above = torch.searchsorted(negatives, positives, right=True).double()
    auc = float((below + not_above).mean() / 2 / len(negatives))
    own = [int(getattr(model, f"keys_{table}").numel()) for table in range(len(told["tables"]))]
    return {"rows": len(rows), "auc": auc, "log_loss": loss, "own_rows": sum(own)}

print(json.dumps([figures(*pair) for pair in json.load(sys.stdin)]))
"""


def torch_python():
    """Returns a Python that has torch, or None."""
    for python in ("/usr/bin/python3", sys.executable):
        if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            return python
    return None


def flip_a_byte(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink()  # It may be a link to a file that others have, too.
    path.write_bytes(content)


class Export(Scenario):
    def trained(self, rows=20000, transform=(LOG, HASH), **trainer):
        for folder, count, seed in (("data", rows, 1), ("held", 3000, 2)):
            if (self.folder / "job" / folder).exists():
                continue
            made = Running(["synth", "criteo", "--rows", count, "--seed", seed, "--out", f"job/{folder}"],
                           self.folder).wait()
            self.assertEqual(made.status, 0, made)
        return self.job(order={"batch_size": 256}, transform=list(transform),
                        trainer={"evaluate": ["held/*.tsv"], "checkpoint_every": "1h", "threads": 1, **trainer})

    def export(self, checkpoints, *options, out="model.pt"):
        return Running(["export", checkpoints, "--out", out, *options], self.folder / "job").wait()

    def dump_of_held(self, job, name):
        finished, rows = job.dump("--set", 'dataset.paths=["held/*.tsv"]', "--set", "order.shuffle=false", "--set",
                                  "trainer.evaluate=[]", name=name)
        self.assert_done(finished)
        self.assertEqual(len(rows), 3000)

    def test_python_computes_the_trainers_figures(self):
        python = torch_python()
        if python is None:
            self.skipTest("no Python has torch (Debian: apt-get install python3-torch)")
        wanted, pairs = [], []
        for storage, model, pooling in JOBS:
            hashed = storage == "hashed"
            job = self.trained(transform=[LOG] if hashed else [LOG, HASH])
            job.change(trainer={"model": model, "pooling": pooling, "tables.storage": storage,
                                "checkpoint": f"{storage}-{model}",
                                **({"tables.memory": "4MiB"} if storage == "tiered" else {}),
                                **({"max_table_rows": 3000} if hashed else {})})
            wanted.append(self.assert_done(job.run("train", "--json")))
            told = self.assert_done(self.export(f"{storage}-{model}", "--json", out=f"{storage}-{model}.pt"))
            self.assertEqual(told["batches"], wanted[-1]["batches"])
            self.assertEqual(told["bytes"], (job.folder / f"{storage}-{model}.pt").stat().st_size)
            dump = "hashed.tsv" if hashed else "folded.tsv"
            if not (job.folder / dump).exists():
                self.dump_of_held(job, dump)
            pairs.append([str(job.folder / f"{storage}-{model}.pt"), str(job.folder / dump)])
        self.assert_scores_agree(python, pairs, JOBS, wanted, 3000)

    def assert_scores_agree(self, python, pairs, jobs, wanted, rows):
        scored = subprocess.run([python, "-c", SCORE], input=json.dumps(pairs), capture_output=True, text=True,
                                timeout=300)
        self.assertEqual(scored.returncode, 0, scored.stderr)
        for names, want, got in zip(jobs, wanted, json.loads(scored.stdout)):
            with self.subTest(names):
                self.assertEqual(got["rows"], rows)
                self.assertAlmostEqual(got["log_loss"], want["log_loss"], delta=1e-6)
                self.assertAlmostEqual(got["auc"], want["auc"], delta=1e-6)
                self.assertGreater(got["auc"], 0.5)
                self.assertEqual(got["own_rows"] > 0, names[0] == "hashed")

    def test_lists_of_any_length_and_unseen_ids_are_scored_as_by_the_trainer(self):
        python = torch_python()
        if python is None:
            self.skipTest("no Python has torch (Debian: apt-get install python3-torch)")
        columns = {"label": "click", "dense": ["age", "price"], "sparse": ["shop", "tags", "seen"]}
        job = self.job(dataset={"format": "csv", "paths": ["data/*.csv"], "csv.list_delimiter": "|"},
                       columns=columns, order={"batch_size": 128})
        job.put("data/seen.csv", rows_of_lists(3000, 1, fresh=False))
        job.put("held/unseen.csv", rows_of_lists(800, 2, fresh=True))
        finished, _ = job.dump("--set", 'dataset.paths=["held/*.csv"]', "--set", "order.shuffle=false", name="held.tsv")
        self.assert_done(finished)
        jobs = list(itertools.product(STORAGES, NETWORKS, ("sum", "mean")))
        wanted, pairs = [], []
        for names in jobs:
            storage, model, pooling = names
            folder = "-".join(names)
            job.tables["trainer"] = {
                "model": model, "pooling": pooling, "evaluate": ["held/*.csv"], "threads": 1, "max_table_rows": 700,
                "embedding_dim": 8, "learning_rate": 0.05, "checkpoint": folder, "tables.storage": storage,
                **({"tables.memory": "2MiB"} if storage == "tiered" else {}),
                **({"tables.admit_after": 3, "tables.evict_after": 20} if storage == "hashed" else {})}
            job.change()
            wanted.append(self.assert_done(job.run("train", "--json")))
            self.assert_done(self.export(folder, "--json", out=f"{folder}.pt"))
            pairs.append([str(job.folder / f"{folder}.pt"), str(job.folder / "held.tsv")])
        self.assert_scores_agree(python, pairs, jobs, wanted, 800)

    def test_a_damaged_checkpoint_is_named_and_the_one_before_is_exported(self):
        for storage, name in (("memory", "model.safetensors"), ("memory", "model.json"),
                              ("hashed", "tables.safetensors"), ("tiered", "*.rows")):
            job = self.trained(rows=6000, **{"tables.storage": storage, "tables.memory": "4MiB",
                                             "checkpoint": f"{storage}-{name[-5:]}"})
            self.assert_done(job.run("train", "--json", "--set", "order.epochs=1"))
            self.assert_done(job.run("train", "--json", "--resume", "--set", "order.epochs=2"))
            folder = job.tables["trainer"]["checkpoint"]
            before, last = sorted((job.folder / folder).glob("checkpoint-*"))
            damaged = max(last.rglob(name))
            flip_a_byte(damaged)
            finished = self.export(folder, "--json")
            self.assertEqual(self.assert_done(finished)["checkpoint"], f"{folder}/{before.name}")
            self.assertIn(str(damaged.relative_to(job.folder)), finished.err)
            self.assertIn("trying the one before it", finished.err)
            good = (job.folder / "model.pt").read_bytes()
            self.assert_refused(self.export(f"{folder}/{last.name}", "--json"), 2, last.name, "damaged", seconds=60)
            self.assertEqual((job.folder / "model.pt").read_bytes(), good, "what was there stays")
            self.assertFalse((job.folder / "model.pt.tmp").exists())

    def test_an_impossible_export_is_refused_and_leaves_no_file(self):
        job = self.trained(rows=3000)
        self.assert_refused(self.export("checkpoints"), 2, "checkpoints: there is no such folder")
        (job.folder / "checkpoints").mkdir()
        self.assert_refused(self.export("checkpoints"), 2, "checkpoints: there is no checkpoint in it")
        self.assert_done(job.run("train", "--json", "--resume"))
        self.assert_refused(Running(["export", "checkpoints"], job.folder).wait(), 2, "--out FILE")
        (job.folder / "taken").mkdir()
        for place in ("taken", "nowhere/model.pt", "/proc/model.pt", "job.toml/model.pt"):
            self.assert_refused(self.export("checkpoints", out=place), 2, "--out", place, seconds=60)
        self.assert_refused(self.export("checkpoints", "--max-bytes", "1MiB"), 2, "the model takes",
                            "--max-bytes allows 1 MiB", seconds=60)
        self.assert_refused(self.export("checkpoints", "--max-bytes", "some"), 2, "--max-bytes some")
        self.assertEqual([path.name for path in job.folder.rglob("*.pt*")], [])
        self.assertEqual(list((job.folder / "taken").iterdir()), [])
        self.assert_done(self.export("checkpoints", "--max-bytes", str(64 * MIB), "--json"))
        job.change(trainer={"model": "emulated", "step": "1ms", "checkpoint": "emulated", "evaluate": []})
        self.assert_done(job.run("train", "--json"))
        self.assert_refused(self.export("emulated", out="other.pt"), 2, "holds no model that has learned anything",
                            seconds=60)
        self.assertFalse((job.folder / "other.pt").exists())


if __name__ == "__main__":
    main()
