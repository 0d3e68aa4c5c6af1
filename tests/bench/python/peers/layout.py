"""Writes Parquet files anew as pyarrow writes them by default, in row groups of whole batches. usage: layout.py FROM TO ROWS"""
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

if __name__ == "__main__":
    source, target, rows = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    target.mkdir()
    for path in sorted(source.glob("*.parquet")):
        table = pq.read_table(path)
        # int64, since petastorm leaves out unsigned columns
        table = table.cast(pa.schema([pa.field(each.name, pa.int64() if pa.types.is_uint32(each.type) else each.type) for each in table.schema]))
        pq.write_table(table.slice(0, table.num_rows // rows * rows), target / path.name, row_group_size=rows)
    print("{}")
