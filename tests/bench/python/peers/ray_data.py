"""Ray Data: read_parquet or read_csv, map_batches, iter_batches. usage: ray_data.py FOLDER"""
import logging
import os

os.environ.update(RAY_DATA_DISABLE_PROGRESS_BARS="1", RAY_DEDUP_LOGS="0")
import fsspec.implementations.http  # noqa: E402,F401  Ray's threads fail when they import it at the same moment
import ray  # noqa: E402
import work  # noqa: E402

if __name__ == "__main__":
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, object_store_memory=2 << 30,
             runtime_env={"env_vars": {"PYTHONPATH": os.path.dirname(os.path.abspath(__file__))}})
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    if work.files()[0].endswith(".parquet"):
        data = ray.data.read_parquet(work.files(), columns=work.COLUMNS)
    else:
        options = work.csv_options()
        data = ray.data.read_csv(work.files(), file_extensions=None, read_options=options.pop("read_options"),
                                 parse_options=options.pop("parse_options"), **options)
    data = data.map_batches(work.arrays_of, batch_size=None, batch_format="pyarrow")
    work.report(lambda: data.iter_batches(batch_size=work.BATCH, batch_format="numpy", prefetch_batches=4))
