"""Forebay: a loop over forebay.Loader. usage: forebay_loader.py JOB"""
import json
import sys
import time

import forebay

PASSES = 4

if __name__ == "__main__":
    rates = []
    with forebay.Loader(sys.argv[1]) as loader:
        for _ in range(2 * PASSES):
            rows = count = 0
            begin = time.perf_counter()
            for batch in loader:
                rows += len(batch.labels)
                count += 1
                batch.dense, batch.values, batch.lengths
            rates.append(rows / (time.perf_counter() - begin))
    # The mean of the second half, when the tuner has looked at the work; a fast pass may read what was made before it.
    print(json.dumps({"rows_per_second": PASSES / sum(1 / rate for rate in rates[PASSES:]), "rows": rows, "batches": count}))
