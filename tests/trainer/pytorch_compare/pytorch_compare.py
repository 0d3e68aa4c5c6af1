"""The same model in plain PyTorch: the same weights and batches have to give the same losses.

usage: pytorch_compare.py TRACE_PROGRAM; exits 77 where there is no torch.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print(f"skipped: {sys.executable} has no torch (Debian: apt-get install python3-torch)")
    sys.exit(77)

STEPS_COMPARED = 20
MOST_LOSS_DIFFERENCE = 1e-5
MOST_AUC_DIFFERENCE = 0.002


class Trace:
    """What the program wrote: values one after another, and trace.json, which says how many."""

    def __init__(self, folder):
        self.told = json.loads((folder / "trace.json").read_text())
        self.bytes = bytearray((folder / "values.bin").read_bytes())
        self.offset = 0

    def take(self, dtype, *shape):
        count = torch.Size(shape).numel()
        values = torch.zeros(0, dtype=dtype) if count == 0 else torch.frombuffer(
            self.bytes, dtype=dtype, count=count, offset=self.offset)
        self.offset += count * values.element_size()
        return values.reshape(shape)

    def take_batch(self, ids):
        rows, dense, sparse = (self.told[key] for key in ("rows", "dense", "sparse"))
        labels = self.take(torch.float32, rows)
        numbers = self.take(torch.float32, rows, dense)
        lengths = self.take(torch.int32, sparse, rows).long()
        return labels, numbers, lengths, self.take(torch.int64, ids)


class Dlrm(torch.nn.Module):
    """Naumov et al. 2019, from torch.nn alone."""

    def __init__(self, weights):
        super().__init__()
        self.bottom, self.top = self.mlp(weights, "bottom"), self.mlp(weights, "top")
        self.tables = torch.nn.ModuleList(
            torch.nn.EmbeddingBag.from_pretrained(values.clone(), freeze=False, mode="sum")
            for name, values in weights.items() if name.startswith("table."))

    @staticmethod
    def mlp(weights, name):
        layers = []
        while f"{name}.{len(layers)}.weight" in weights:
            values = weights[f"{name}.{len(layers)}.weight"]
            layer = torch.nn.Linear(values.shape[1], values.shape[0])
            with torch.no_grad():
                layer.weight.copy_(values)
                layer.bias.copy_(weights[f"{name}.{len(layers)}.bias"])
            layers.append(layer)
        return torch.nn.ModuleList(layers)

    def forward(self, numbers, lengths, ids):
        for layer in self.bottom:
            numbers = torch.relu(layer(numbers))
        vectors = [numbers]
        for table, own, own_ids in zip(self.tables, lengths, ids.split(lengths.sum(1).tolist())):
            starts = torch.cumsum(own, 0) - own
            vectors.append(table(own_ids % table.num_embeddings, starts))
        stacked = torch.stack(vectors, 1)
        products = torch.bmm(stacked, stacked.transpose(1, 2))
        rows, columns = torch.tril_indices(len(vectors), len(vectors), offset=-1)
        features = torch.cat([numbers, products[:, rows, columns]], 1)
        for layer in self.top[:-1]:
            features = torch.relu(layer(features))
        return self.top[-1](features).squeeze(1)


def auc(scores, labels):
    """The share of pairs of a positive and a negative that are in order, ties counted half."""
    negatives = scores[labels == 0].sort().values
    positives = scores[labels == 1]
    below = torch.searchsorted(negatives, positives).double()
    not_above = torch.searchsorted(negatives, positives, right=True).double()
    return float((below + not_above).mean() / 2 / len(negatives))


def compare(trace):
    told = trace.told
    weights = {tensor["name"]: trace.take(torch.float32, *tensor["shape"]) for tensor in told["tensors"]}
    model = Dlrm(weights)
    make = {"sgd": torch.optim.SGD, "adagrad": torch.optim.Adagrad}[told["optimizer"]]
    optimizer = make(model.parameters(), lr=told["learning_rate"])
    losses, scores, labels = [], [], []
    for number, ids in enumerate(told["ids"]):
        clicked, *batch = trace.take_batch(ids)
        if number < len(told["losses"]):
            optimizer.zero_grad()
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(*batch), clicked)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        else:
            with torch.no_grad():
                scores.append(model(*batch))
            labels.append(clicked)
    apart = max(abs(a - b) for a, b in zip(losses[:STEPS_COMPARED], told["losses"]))
    theirs = auc(torch.cat(scores), torch.cat(labels))
    print(f"{told['optimizer']}: losses of {STEPS_COMPARED} steps differ by at most {apart:.1e} "
          f"({losses[0]:.4f} to {losses[-1]:.4f} in {len(losses)}); AUC {told['auc']:.5f}, PyTorch {theirs:.5f}")
    return apart <= MOST_LOSS_DIFFERENCE and abs(theirs - told["auc"]) <= MOST_AUC_DIFFERENCE


def main():
    torch.set_num_threads(2)
    same = []
    for optimizer in ("sgd", "adagrad"):
        with tempfile.TemporaryDirectory(prefix="forebay-compare-") as folder:
            subprocess.run([sys.argv[1], folder, optimizer], check=True)
            same.append(compare(Trace(pathlib.Path(folder))))
    sys.exit(0 if all(same) else 1)


main()
