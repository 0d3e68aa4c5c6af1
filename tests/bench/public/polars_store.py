#!/usr/bin/env python3
"""The peer of `bench store`: the same columns of Parquet files in a store by polars.

Scans the files with polars' own readers and threads, and collects the columns as they are: no shuffle, no batches.
Prints one JSON object.

usage: polars_store.py --endpoint http://127.0.0.1:9000 --columns label,f1,... s3://BUCKET/*.parquet
"""
import argparse
import json
import time

import polars as pl


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--columns", required=True)
    parser.add_argument("files")
    options = parser.parse_args()
    store = {"endpoint_url": options.endpoint, "allow_http": "true", "region": "us-east-1", "skip_signature": "true"}
    begin = time.perf_counter()
    frame = pl.scan_parquet(options.files, storage_options=store).select(options.columns.split(",")).collect()
    seconds = time.perf_counter() - begin
    print(json.dumps({"loader": "polars", "rows": frame.height, "seconds": round(seconds, 4),
                      "rows_per_second": round(frame.height / seconds), "polars": pl.__version__}))


if __name__ == "__main__":
    main()
