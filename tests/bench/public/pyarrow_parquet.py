#!/usr/bin/env python3
"""The yardstick of `bench parquet`: the same columns by pyarrow and numpy, as fast as they go.

Each of two threads takes whole files and reads their row groups in an order of its own, converts the
columns (dense to float32, ids to int64), permutes the rows of each group in numpy and cuts batches: labels
float32 [B], dense float32 [B, D], ids int64 and lengths int32 by column. Text is read as a dictionary, of which each
entry is made an id once. Prints one JSON object; with --check, also a sum over all rows in any order.

usage: pyarrow_parquet.py [--threads 2] [--batch 16384] [--repeat 1] [--check] --label L [--threshold T] --dense D,...
           --sparse S,... FILE...
"""
import argparse
import fnmatch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from file_a_thread import report


def chosen(patterns, names):
    return [name for pattern in patterns.split(",") if pattern for name in names if fnmatch.fnmatchcase(name, pattern)]


def permuted(column, order):
    """The ids and lengths of a column's rows in another order."""
    if pa.types.is_dictionary(column.type):
        entries = np.array([int(text) for text in column.dictionary.to_pylist()], np.int64)
        return entries[column.indices.to_numpy(zero_copy_only=False)[order]], None
    if not pa.types.is_list(column.type):
        return column.to_numpy(zero_copy_only=False)[order].astype(np.int64, copy=False), None
    values = column.values.to_numpy(zero_copy_only=False)
    offsets = column.offsets.to_numpy()
    lengths = np.diff(offsets)[order]
    ends = np.cumsum(lengths)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(offsets[:-1][order] - (ends - lengths), lengths)
    return values[places].astype(np.int64, copy=False), lengths.astype(np.int32)


def row_sum(batch):
    """The sum that `forebay bench parquet` makes of its own batches."""
    labels, dense, sparse = batch
    total = 11 * int(np.count_nonzero(labels)) + 3 * int(dense.view(np.uint32).sum(dtype=np.uint64))
    factors = np.where(labels > 0, 7, 5).astype(np.uint64)
    for ids, lengths in sparse:
        of_ids = factors if lengths is None else np.repeat(factors, lengths)
        total += len(ids) + int((ids.view(np.uint64) * of_ids).sum(dtype=np.uint64))
    return total


class Batcher:
    def __init__(self, size, check):
        self.size, self.check, self.sum = size, check, 0
        self.held, self.groups, self.rows, self.batches = 0, [], 0, 0

    def add(self, group):
        self.groups.append(group)
        self.held += len(group[0])
        while self.held >= self.size:
            self.cut(self.size)

    def cut(self, rows):
        """Copies the next rows into one batch."""
        labels, dense, sparse, left = [], [], [], rows
        while left:
            group = self.groups[0]
            taken = min(left, len(group[0]))
            parts, rest = split(group, taken)
            labels.append(parts[0])
            dense.append(parts[1])
            sparse.append(parts[2])
            self.groups[0:1] = [rest] if len(rest[0]) else []
            left -= taken
        batch = (np.concatenate(labels), np.concatenate(dense),
                 [tuple(None if part[0] is None else np.concatenate(part) for part in zip(*column))
                  for column in zip(*sparse)])
        if self.check:
            self.sum += row_sum(batch)
        self.held -= rows
        self.rows += rows
        self.batches += 1
        return batch


def split(group, rows):
    labels, dense, sparse = group
    head, tail = [], []
    for ids, lengths in sparse:
        at = rows if lengths is None else int(lengths[:rows].sum())
        head.append((ids[:at], None if lengths is None else lengths[:rows]))
        tail.append((ids[at:], None if lengths is None else lengths[rows:]))
    return (labels[:rows], dense[:rows], head), (labels[rows:], dense[rows:], tail)


def work(paths, options, seed):
    random, batcher = np.random.default_rng(seed), Batcher(options.batch, options.check)
    for path in paths:
        file = pq.ParquetFile(path)
        names = file.schema_arrow.names
        dense, sparse = chosen(options.dense, names), chosen(options.sparse, names)
        texts = [name for name in sparse if pa.types.is_string(file.schema_arrow.field(name).type)]
        if texts:
            file = pq.ParquetFile(path, metadata=file.metadata, read_dictionary=texts)
        for number in random.permutation(file.num_row_groups):
            table = file.read_row_group(number, columns=[options.label, *dense, *sparse], use_threads=False)
            order = random.permutation(len(table))
            one = {name: table[name].combine_chunks() for name in table.column_names}
            one = {name: column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
                   for name, column in one.items()}
            matrix = np.empty((len(table), len(dense)), np.float32)
            for i, name in enumerate(dense):
                matrix[:, i] = one[name].to_numpy(zero_copy_only=False)[order]
            labels = one[options.label].to_numpy(zero_copy_only=False)[order]
            if options.threshold is not None:
                labels = labels >= options.threshold
            labels = labels.astype(np.float32)
            batcher.add((labels, matrix, [permuted(one[name], order) for name in sparse]))
    if batcher.held:
        batcher.cut(batcher.held)
    options.sums.append(batcher.sum)
    return batcher.rows, batcher.batches


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=16384)
    parser.add_argument("--repeat", type=int, default=1, help="the fastest of so many is reported")
    parser.add_argument("--check", action="store_true", help="adds `checksum`, modulo 2^52")
    parser.add_argument("--label", required=True)
    parser.add_argument("--threshold", type=float, help="the label is 1 from here on, else 0")
    parser.add_argument("--dense", default="")
    parser.add_argument("--sparse", default="")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    options.sums = []  # one a thread and run
    report(work, options, lambda: {"checksum": sum(options.sums) % 2**64 % 2**52} if options.check else {})


if __name__ == "__main__":
    main()
