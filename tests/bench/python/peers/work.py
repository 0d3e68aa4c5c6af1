"""The work that all loaders do on the same files, Criteo's rows as text or in Parquet: log1p of 13 columns, sigrid_hash of 26
into [0, 1000000), rows in a random order, batches of 8192; and how a pass is timed.

Differences are in the public loaders' favour: rows are permuted in their block or row group alone, ids that are missing are
zeros with a length of 0, and a block's last batch may be smaller."""
import glob
import json
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

BATCH = 8192
DENSE = [f"I{i}" for i in range(1, 14)]
SPARSE = [f"C{i}" for i in range(1, 27)]
COLUMNS = ["label", *DENSE, *SPARSE]
TEXT_TYPES = {"label": pa.float32(), **{name: pa.int32() for name in DENSE}, **{name: pa.binary(8) for name in SPARSE}}
MULTIPLIER, MOST = np.uint64(0x9DDFEA08EB382D69), np.int64(1_000_000)
BLOCK_BYTES = 4 << 20


def files():
    return sorted(glob.glob(sys.argv[1] + "/*"))


def csv_options(block_bytes=BLOCK_BYTES):
    return {"read_options": pacsv.ReadOptions(column_names=COLUMNS, block_size=block_bytes, use_threads=False),
            "parse_options": pacsv.ParseOptions(delimiter="\t", quote_char=False),
            "convert_options": pacsv.ConvertOptions(column_types=TEXT_TYPES, null_values=[""], strings_can_be_null=True)}


def parts():
    """What one call of `tables` reads: whole files of text, row groups of Parquet."""
    for path in files():
        groups = pq.ParquetFile(path).num_row_groups if path.endswith(".parquet") else 1
        yield from ((path, group) for group in range(groups))


def tables(part):
    """Yields the tables of a part."""
    path, group = part
    if path.endswith(".parquet"):
        yield pq.ParquetFile(path).read_row_group(group, columns=COLUMNS, use_threads=False)
    else:
        yield from pacsv.open_csv(path, **csv_options())


def numbers(column):
    """A column as an array, and where it has values; 8 hex digits as the number that they spell."""
    column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    valid = pc.is_valid(column).to_numpy(zero_copy_only=False) if column.null_count else None
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.binary()).cast(pa.binary(8))
    if pa.types.is_fixed_size_binary(column.type):
        return hex_numbers(np.frombuffer(column.buffers()[1], np.uint64)[column.offset:column.offset + len(column)]), valid
    return pc.fill_null(column, 0).to_numpy(zero_copy_only=False), valid


def hex_numbers(text):
    """As in ../../public/pyarrow_numpy.py: by arithmetic on words of 8 bytes."""
    letters = (text >> np.uint64(6)) & np.uint64(0x0101010101010101)
    digits = (text & np.uint64(0x0F0F0F0F0F0F0F0F)) + letters * np.uint64(9)
    pairs = ((digits << np.uint64(4)) | (digits >> np.uint64(8))) & np.uint64(0x00FF00FF00FF00FF)
    words = ((pairs << np.uint64(8)) | (pairs >> np.uint64(16))) & np.uint64(0x0000FFFF0000FFFF)
    return ((words << np.uint64(16)) | (words >> np.uint64(32))) & np.uint64(0xFFFFFFFF)


def sigrid_hash(values, salt=np.uint64(0)):
    """The hash of Forebay's op of this name, in place where that is possible."""
    ids = values.astype(np.int64).view(np.uint64)
    ids = ~ids + (ids << np.uint64(21))
    ids ^= ids >> np.uint64(24)
    ids = ids + (ids << np.uint64(3)) + (ids << np.uint64(8))
    ids ^= ids >> np.uint64(14)
    ids = ids + (ids << np.uint64(2)) + (ids << np.uint64(4))
    ids ^= ids >> np.uint64(28)
    ids += ids << np.uint64(31)
    for _ in range(2):
        ids ^= salt
        ids *= MULTIPLIER
        ids ^= ids >> np.uint64(47)
    ids *= MULTIPLIER
    return np.mod(ids.view(np.int64), MOST)


def arrays_of(table, random=np.random.default_rng(1)):
    """A row group as arrays with the rows first: labels, dense, ids, lengths."""
    rows = table.num_rows
    order = random.permutation(rows)
    dense = np.empty((rows, len(DENSE)), np.float32)
    ids = np.empty((rows, len(SPARSE)), np.int64)
    lengths = np.ones((rows, len(SPARSE)), np.int32)
    for at, name in enumerate(DENSE):
        values, _ = numbers(table.column(name))
        dense[:, at] = values[order]
    np.log1p(np.maximum(dense, 0, out=dense), out=dense)
    for at, name in enumerate(SPARSE):
        values, valid = numbers(table.column(name))
        ids[:, at] = sigrid_hash(values)[order]
        if valid is not None:
            lengths[:, at] = valid[order]
    return {"labels": numbers(table.column("label"))[0].astype(np.float32)[order], "dense": dense, "ids": ids, "lengths": lengths}


def batches_of(arrays):
    for begin in range(0, len(arrays["labels"]), BATCH):
        yield {name: array[begin:begin + BATCH] for name, array in arrays.items()}


def report(batches, passes=2):
    """Times passes over a loader; the fastest counts."""
    rates = []
    for _ in range(passes):
        rows = count = 0
        begin = time.perf_counter()
        for batch in batches():
            rows += len(batch["labels"])
            count += 1
            batch["dense"], batch["ids"], batch["lengths"]
        rates.append(rows / (time.perf_counter() - begin))
    print(json.dumps({"rows_per_second": max(rates), "rows": rows, "batches": count}))
