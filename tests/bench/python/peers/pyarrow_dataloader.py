"""torch.utils.data.DataLoader whose workers read by pyarrow. usage: pyarrow_dataloader.py FOLDER"""
import torch
import work


class Groups(torch.utils.data.IterableDataset):
    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        for part in list(work.parts())[worker.id::worker.num_workers]:
            for table in work.tables(part):
                for batch in work.batches_of(work.arrays_of(table)):
                    yield {name: torch.from_numpy(array) for name, array in batch.items()}


if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(Groups(), batch_size=None, num_workers=2, persistent_workers=True, prefetch_factor=4)
    work.report(lambda: loader)
