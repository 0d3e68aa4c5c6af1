"""How the pyarrow peers are measured: each thread takes whole files, the fastest of some runs counts."""
import concurrent.futures
import json
import time

import numpy as np
import pyarrow as pa


def measure(work, options):
    """`work(paths, options, seed)` returns the rows and batches that it made of some files."""
    shares = [options.files[i::options.threads] for i in range(options.threads)]
    begin, begin_cpu = time.perf_counter(), time.process_time()
    with concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
        done = list(pool.map(lambda i: work(shares[i], options, i), range(options.threads)))
    seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - begin_cpu
    rows = sum(count for count, _ in done)
    return {"loader": "pyarrow + numpy", "rows": rows, "batches": sum(count for _, count in done),
            "seconds": round(seconds, 4), "cpu_seconds": round(cpu_seconds, 4),
            "rows_per_second": round(rows / seconds), "threads": options.threads, "pyarrow": pa.__version__, "numpy": np.__version__}


def report(work, options, more=dict):
    """Prints one JSON object: the fastest of `options.repeat` runs, figures of the first, what `more` returns."""
    pa.set_cpu_count(options.threads)
    runs = [measure(work, options) for _ in range(options.repeat)]
    first = {f"first_{name}": runs[0][name] for name in ("rows_per_second", "cpu_seconds")}
    print(json.dumps(max(runs, key=lambda run: run["rows_per_second"]) | first | more()))
