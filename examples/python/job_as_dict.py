"""A job without a job file: a dict with the same keys, on rows that are made here. usage: job_as_dict.py [FOLDER]"""
import pathlib
import sys
import tempfile

import forebay


def main(folder):
    data = pathlib.Path(folder) / "data"
    made = forebay.synth(rows=50_000, files=2, seed=1, out=data)
    print(f"{made['rows']:,} rows in {made['files']} files")
    job = {
        "dataset": {"format": "criteo_tsv", "paths": [data / "*.tsv"]},
        "order": {"batch_size": 4096, "seed": 3},
        "transform": [
            {"op": "log1p", "columns": ["I*"]},
            {"op": "sigrid_hash", "columns": ["C*"], "max_value": 100_000},
        ],
        "pipeline.memory": "256MiB",  # dotted keys are the same as tables
        "run.dir": pathlib.Path(folder) / "run",
    }
    with forebay.Loader(job, set={"order.seed": 7}, progress=True) as loader:
        for epoch in range(2):
            clicks = rows = 0
            for batch in loader:
                clicks += sum(batch.labels.tolist())
                rows += len(batch)
            print(f"epoch {epoch}: {rows:,} rows in {len(loader)} batches, {clicks / rows:.1%} of them clicks")
        print(loader.stats())


if __name__ == "__main__":
    if sys.argv[1:]:
        main(sys.argv[1])
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(temporary)
