"""datasets (Hugging Face): files streamed as Arrow tables, two workers of PyTorch's DataLoader. usage: ... FOLDER"""
import datasets
import torch
import work


class Streamed(torch.utils.data.IterableDataset):
    def __init__(self):
        options = {"path": "parquet"}
        if not work.files()[0].endswith(".parquet"):
            kinds = {"label": "float32", **dict.fromkeys(work.DENSE, "float64"), **dict.fromkeys(work.SPARSE, "string")}
            features = datasets.Features({name: datasets.Value(kind) for name, kind in kinds.items()})
            options = {"path": "csv", "sep": "\t", "column_names": work.COLUMNS, "features": features, "quoting": 3}
        self.data = datasets.load_dataset(data_files=work.files(), split="train", streaming=True, **options).with_format("arrow")

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        shard = self.data.shard(num_shards=worker.num_workers, index=worker.id)
        for table in shard.iter(batch_size=work.BATCH):
            yield {name: torch.from_numpy(array) for name, array in work.arrays_of(table).items()}


if __name__ == "__main__":
    datasets.disable_progress_bars()
    loader = torch.utils.data.DataLoader(Streamed(), batch_size=None, num_workers=2, persistent_workers=True, prefetch_factor=4)
    work.report(lambda: loader)
