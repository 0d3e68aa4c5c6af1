"""Several ranks train one model by DistributedDataParallel; each reads its slice of every global batch.

usage: torchrun --nproc-per-node 2 train_ddp.py JOB [CHECKPOINT]

order.batch_size is the global batch. A checkpoint is resumed by any number of ranks: they see the same global batches."""
import os
import sys

import torch
import torch.distributed as dist

import forebay

HASHED, WIDTH = 10_000, 8  # rows of the table that all sparse columns share, and numbers a row


class Model(torch.nn.Module):
    def __init__(self, dense, sparse):
        super().__init__()
        self.table = torch.nn.EmbeddingBag(HASHED, WIDTH, mode="sum")
        self.sparse = sparse
        self.top = torch.nn.Sequential(torch.nn.Linear(dense + sparse * WIDTH, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))

    def forward(self, dense, values, lengths):
        ends = torch.cumsum(lengths.reshape(-1).long(), 0)  # of each column's rows, column after column
        vectors = self.table(values % HASHED, torch.cat([ends.new_zeros(1), ends[:-1]]))
        by_row = vectors.view(self.sparse, -1, WIDTH).transpose(0, 1).reshape(-1, self.sparse * WIDTH)
        return self.top(torch.cat([dense, by_row], 1)).squeeze(1)


def main(job, checkpoint="ddp.pt"):
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if torch.cuda.is_available() else torch.device("cpu")
    torch.manual_seed(0)
    with forebay.Loader(job, rank=rank, world_size=ranks) as loader:
        own = Model(len(loader.schema.dense), len(loader.schema.sparse)).to(device)
        optimizer = torch.optim.SGD(own.parameters(), lr=0.05)
        if os.path.exists(checkpoint):
            saved = torch.load(checkpoint, map_location=device)
            own.load_state_dict(saved["model"])
            optimizer.load_state_dict(saved["optimizer"])
            loader.load_state_dict(saved["loader"])  # one state serves all ranks
        model = torch.nn.parallel.DistributedDataParallel(own)
        rows, losses = 0, torch.zeros(2, device=device)
        for batch in loader:
            tensors = batch.torch(device)
            logits = model(tensors["dense"], tensors["values"], tensors["lengths"])
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, tensors["labels"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rows += len(batch)
            losses += torch.stack([loss.detach(), torch.ones_like(loss)])
        totals = torch.tensor([rows], device=device)
        dist.all_reduce(totals)
        dist.all_reduce(losses)
        if rank == 0:
            torch.save({"model": own.state_dict(), "optimizer": optimizer.state_dict(), "loader": loader.state_dict()}, checkpoint)
            print(f"{int(totals)} rows on {ranks} ranks, mean loss {float(losses[0] / losses[1]):.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(*sys.argv[1:])
