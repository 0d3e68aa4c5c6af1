#!/usr/bin/env python3
"""The yardstick of `bench ingest`: the same work by pyarrow's CSV reader and numpy, as fast as they go.

Reads Criteo TSV files, fills what is missing, takes log(1 + max(x, 0)) of the 13 integers and hashes the
26 tokens into [0, MAX), permutes the rows of each block, and cuts batches: labels float32 [B], dense
float32 [B, 13], ids int64 [26, B], missing tokens as length 0 in an int32 [26, B]. Each of two threads
takes whole files, reads them in large blocks and does all of that in place, which measured faster than
pyarrow's own threads with numpy beside them. Prints one JSON object.

usage: pyarrow_numpy.py [--threads 2] [--batch 8192] [--block-bytes 4194304] [--repeat 3] FILE...
"""
import argparse

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from file_a_thread import report

DENSE = [f"I{i}" for i in range(1, 14)]
SPARSE = [f"C{i}" for i in range(1, 27)]
TYPES = {"label": pa.float32(), **{name: pa.int32() for name in DENSE},
         **{name: pa.binary(8) for name in SPARSE}}
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
MAX = np.uint64(1_000_000)


def open_csv(path, block_bytes):
    return pacsv.open_csv(
        path,
        read_options=pacsv.ReadOptions(column_names=list(TYPES), block_size=block_bytes, use_threads=False),
        parse_options=pacsv.ParseOptions(delimiter="\t", quote_char=False),
        convert_options=pacsv.ConvertOptions(column_types=TYPES, null_values=[""], strings_can_be_null=True))


def dense_of(column):
    """log(1 + max(x, 0)), missing as 0."""
    values = pc.fill_null(column, 0) if column.null_count else column
    return np.log1p(np.maximum(values.to_numpy(), 0).astype(np.float32))


def ids_of(column):
    """The number that the 8 hex digits spell, hashed into [0, MAX); and 1 where there is a token, else 0."""
    text = np.frombuffer(column.buffers()[1], np.uint64)[column.offset:column.offset + len(column)]
    present = np.ones(len(column), np.int32)
    if column.null_count:
        present = pc.cast(pc.is_valid(column), pa.int32()).to_numpy(zero_copy_only=False)
    letters = (text >> np.uint64(6)) & np.uint64(0x0101010101010101)
    digits = (text & np.uint64(0x0F0F0F0F0F0F0F0F)) + letters * np.uint64(9)
    pairs = ((digits << np.uint64(4)) | (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    words = ((pairs << np.uint64(8)) | (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    number = ((words << np.uint64(16)) | (words >> np.uint64(32))) & np.uint64(0xFFFFFFFF)
    hashed = number * MULTIPLIER
    return (((hashed >> np.uint64(32)) * MAX) >> np.uint64(32)).view(np.int64), present


class ReorderBuffer:
    """Copies the permuted rows of blocks into batches of a fixed size."""

    def __init__(self, size):
        self.size, self.batches, self.rows = size, 0, 0
        self.open()

    def open(self):
        self.used = 0
        self.labels = np.empty(self.size, np.float32)
        self.dense = np.empty((self.size, len(DENSE)), np.float32)
        self.ids = np.empty((len(SPARSE), self.size), np.int64)
        self.lengths = np.empty((len(SPARSE), self.size), np.int32)

    def add(self, labels, dense, sparse, order):
        begin = 0
        while begin < len(order):
            count = min(self.size - self.used, len(order) - begin)
            rows, place = order[begin:begin + count], slice(self.used, self.used + count)
            self.labels[place] = labels[rows]
            for i, column in enumerate(dense):
                self.dense[place, i] = column[rows]
            for i, (ids, present) in enumerate(sparse):
                np.take(ids, rows, out=self.ids[i, place], mode="clip")
                np.take(present, rows, out=self.lengths[i, place], mode="clip")
            begin += count
            self.used += count
            if self.used == self.size:
                self.close()

    def close(self):
        if self.used:
            self.batches += 1
            self.rows += self.used
            self.open()


def work(paths, options, seed):
    batcher, random = ReorderBuffer(options.batch), np.random.default_rng(seed)
    for path in paths:
        for block in open_csv(path, options.block_bytes):
            columns = block.columns
            batcher.add(columns[0].to_numpy(zero_copy_only=False),
                        [dense_of(column) for column in columns[1:14]],
                        [ids_of(column) for column in columns[14:]],
                        random.permutation(block.num_rows))
    batcher.close()
    return batcher.rows, batcher.batches


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--block-bytes", type=int, default=4 << 20)
    parser.add_argument("--repeat", type=int, default=3, help="the fastest of so many is reported")
    parser.add_argument("files", nargs="+")
    report(work, parser.parse_args())


if __name__ == "__main__":
    main()
