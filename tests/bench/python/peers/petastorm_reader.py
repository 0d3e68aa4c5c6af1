"""petastorm: make_batch_reader with two threads, a row group at a time. usage: petastorm_reader.py FOLDER"""
import warnings

warnings.filterwarnings("ignore")
import pyarrow as pa  # noqa: E402
import work  # noqa: E402
from petastorm import make_batch_reader  # noqa: E402


def batches():
    urls = ["file://" + path for path in work.files()]
    with make_batch_reader(urls, schema_fields=work.COLUMNS, reader_pool_type="thread", workers_count=2, shuffle_row_groups=True) as reader:
        for group in reader:
            columns = {name: pa.array(values, from_pandas=True) for name, values in group._asdict().items()}
            yield from work.batches_of(work.arrays_of(pa.table(columns)))


if __name__ == "__main__":
    work.report(batches)
