"""A transform written in Python: python examples/python/udf.py JOB

Adds two columns to the batches of a job with Criteo's columns: a dense one, and a sparse one that crosses two others.
The function runs in processes of its own, as many as the tuner finds useful."""
import sys

import forebay
import numpy


def features(columns):
    """Gets float32 arrays for dense columns (NaN: missing), values and lengths for sparse ones."""
    ratio = columns["I1"] / (numpy.abs(columns["I2"]) + 1)
    first, first_lengths = columns["C1"]
    second, second_lengths = columns["C2"]
    both = (first_lengths == 1) & (second_lengths == 1)  # rows that have one id of each
    crossed = (first[numpy.repeat(both, first_lengths)] * 1_000_003) ^ second[numpy.repeat(both, second_lengths)]
    return {"ratio": ratio, "C1_C2": (crossed % 1_000_000, both.astype(numpy.int32))}


def main():
    transform = forebay.python(features, columns=["I1", "I2", "C1", "C2"], adds=["ratio"], adds_sparse=["C1_C2"], version=1)
    with forebay.Loader(sys.argv[1], transforms=[transform]) as loader:
        total = 0.0
        for batch in loader:
            total += float(numpy.asarray(batch["ratio"]).sum())
            ids, lengths = batch["C1_C2"]
        stats = loader.stats()
    print(f"{stats['rows']} rows, {stats['rows_per_second']:.0f} rows/s, mean ratio {total / stats['rows']:.4f}, "
          f"{len(ids)} crossed ids in the last {len(lengths)} rows")


if __name__ == "__main__":  # this file is not imported by the processes: `features` goes to them by value
    main()
