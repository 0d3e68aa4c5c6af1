"""The same models in plain PyTorch: the same weights and batches have to give the same losses.

usage: pytorch_compare.py TRACE_PROGRAM; exits 77 where there is no torch.
"""
import json
import os
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
MOST_SCORE_DIFFERENCE = 1e-5


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
        ids = self.take(torch.int64, ids)
        weights = self.take(torch.float32, rows) if self.told["weighted"] else None
        return labels, weights, numbers, lengths, ids


class Network(torch.nn.Module):
    """Pools the ids of each field; what is done with the vectors is a subclass's `combine`. From torch.nn alone."""

    def __init__(self, weights, told):
        super().__init__()
        self.dim = told["dim"]
        mode = "mean" if told["mean"] else "sum"
        self.tables = torch.nn.ModuleList(
            torch.nn.EmbeddingBag.from_pretrained(values.clone(), freeze=False, mode=mode)
            for name, values in weights.items() if name.startswith("table."))
        self.build(weights)

    @staticmethod
    def mlp(weights, name):
        layers = []
        while f"{name}.{len(layers) // 2}.weight" in weights:
            values = weights[f"{name}.{len(layers) // 2}.weight"]
            layer = torch.nn.Linear(values.shape[1], values.shape[0])
            with torch.no_grad():
                layer.weight.copy_(values)
                layer.bias.copy_(weights[f"{name}.{len(layers) // 2}.bias"])
            layers += [layer, torch.nn.ReLU()]
        return torch.nn.Sequential(*(layers if name == "bottom" else layers[:-1]))

    def forward(self, numbers, lengths, ids):
        vectors = []
        for table, own, own_ids in zip(self.tables, lengths, ids.split(lengths.sum(1).tolist())):
            starts = torch.cumsum(own, 0) - own
            vectors.append(table(own_ids % table.num_embeddings, starts))
        return self.combine(numbers, torch.stack(vectors, 1))


class Dlrm(Network):
    """Naumov et al. 2019."""

    def build(self, weights):
        self.bottom, self.top = self.mlp(weights, "bottom"), self.mlp(weights, "top")

    def combine(self, numbers, vectors):
        bottom = self.bottom(numbers)
        stacked = torch.cat([bottom.unsqueeze(1), vectors], 1)
        products = torch.bmm(stacked, stacked.transpose(1, 2))
        rows, columns = torch.tril_indices(stacked.shape[1], stacked.shape[1], offset=-1)
        return self.top(torch.cat([bottom, products[:, rows, columns]], 1)).squeeze(1)


class DcnV2(Network):
    """Wang et al. 2021, low-rank, between the MLPs of DLRM, as MLPerf has it."""

    def build(self, weights):
        self.bottom, self.top = self.mlp(weights, "bottom"), self.mlp(weights, "top")
        self.cross = torch.nn.ParameterDict(
            {name.replace(".", "_"): torch.nn.Parameter(values.clone())
             for name, values in weights.items() if name.startswith("cross.")})

    def combine(self, numbers, vectors):
        first = x = torch.cat([self.bottom(numbers), vectors.flatten(1)], 1)
        for layer in range(len(self.cross) // 3):
            v, w, bias = (self.cross[f"cross_{layer}_{part}"] for part in ("v", "w", "bias"))
            x = first * ((x @ v.T) @ w.T + bias) + x
        return self.top(x).squeeze(1)


class WideDeep(Network):
    """Cheng et al. 2016."""

    def build(self, weights):
        self.wide = torch.nn.Parameter(weights["wide.weight"].clone())
        self.deep = self.mlp(weights, "deep")

    def combine(self, numbers, vectors):
        deep = self.deep(torch.cat([numbers, vectors[:, :, :self.dim].flatten(1)], 1)).squeeze(1)
        return deep + numbers @ self.wide + vectors[:, :, self.dim].sum(1)


class DeepFm(WideDeep):
    """Guo et al. 2017; the second order pair by pair."""

    def combine(self, numbers, vectors):
        logits = super().combine(numbers, vectors)
        fields = vectors[:, :, :self.dim].unbind(1)
        for i, field in enumerate(fields):
            for other in fields[:i]:
                logits = logits + (field * other).sum(1)
        return logits


NETWORKS = {"dlrm": Dlrm, "dcn_v2": DcnV2, "wide_deep": WideDeep, "deepfm": DeepFm}


def optimizers(name, model):
    """The dense part's and the tables'."""
    tables = list(model.tables.parameters())
    own = {id(table) for table in tables}
    dense = [parameter for parameter in model.parameters() if id(parameter) not in own]
    make = {"sgd": torch.optim.SGD, "adagrad": torch.optim.Adagrad, "adam": torch.optim.Adam}
    return [make[name](dense, lr=1), make["sgd" if name == "sgd" else "adagrad"](tables, lr=1)]


def auc(scores, labels):
    """The share of pairs of a positive and a negative that are in order, ties counted half."""
    negatives = scores[labels == 0].sort().values
    positives = scores[labels == 1]
    below = torch.searchsorted(negatives, positives).double()
    not_above = torch.searchsorted(negatives, positives, right=True).double()
    return float((below + not_above).mean() / 2 / len(negatives))


def exported_agrees(folder, batch, scores):
    """Whether the exported model gives the scores that the trainer gave."""
    model = torch.jit.load(str(folder / "model.pt"))
    numbers, lengths, ids = batch
    told = json.loads(model.forebay)
    assert len(told["dense"]) == numbers.shape[1] and len(told["tables"]) == lengths.shape[0], told
    with torch.no_grad():
        apart = (model(numbers, ids, lengths.int()) - torch.tensor(scores)).abs().max().item()
    print(f"  exported: scores differ by at most {apart:.1e}")
    return apart <= MOST_SCORE_DIFFERENCE


def train(folder, network, optimizer, dtype=torch.float32, nudge=0.0):
    """What PyTorch makes of the trace: losses, scores and labels of what is held out, its last batch.

    Computed in `dtype`, from weights that are off by a share of `nudge`.
    """
    trace = Trace(folder)
    told = trace.told
    weights = {tensor["name"]: trace.take(torch.float32, *tensor["shape"]).to(dtype) for tensor in told["tensors"]}
    generator = torch.Generator().manual_seed(1)
    for values in weights.values():
        values *= 1 + nudge * torch.randn(values.shape, generator=generator, dtype=dtype)
    model = NETWORKS[network](weights, told).to(dtype)
    both = optimizers(optimizer, model)
    losses, scores, labels = [], [], []
    for number, ids in enumerate(told["ids"]):
        clicked, weights, numbers, *lists = trace.take_batch(ids)
        weights = weights if weights is None else weights.to(dtype)
        batch = numbers.to(dtype), *lists
        if number < len(told["losses"]):
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(*batch), clicked.to(dtype), weights)
            model.zero_grad()
            loss.backward()
            if told["clip_norm"] > 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), told["clip_norm"])
            for one in both:
                one.param_groups[0]["lr"] = told["learning_rates"][number]
                one.step()
            losses.append(loss.item())
        else:
            with torch.no_grad():
                scores.append(model(*batch))
            labels.append(clicked)
    return losses, torch.cat(scores), torch.cat(labels), batch


def furthest(losses, others):
    return max(abs(a - b) for a, b in zip(losses[:STEPS_COMPARED], others))


def rounding(folder, network, optimizer, losses):
    """How far PyTorch is from itself in double precision, or from weights that are off in the last place.

    Adagrad takes a whole step by a gradient that is all rounding: nobody's losses are known better than that.
    """
    others = [train(folder, network, optimizer, torch.float64)]
    others += [train(folder, network, optimizer, nudge=units * 2.0**-24) for units in (-2, -1, 1, 2)]
    return max(furthest(losses, other[0]) for other in others)


def compare(folder, network, optimizer):
    told = json.loads((folder / "trace.json").read_text())
    losses, scores, labels, batch = train(folder, network, optimizer)
    apart = furthest(losses, told["losses"])
    theirs = auc(scores, labels)
    print(f"{network}, {optimizer}: losses of {STEPS_COMPARED} steps differ by at most {apart:.1e} "
          f"({losses[0]:.4f} to {losses[-1]:.4f} in {len(losses)}); AUC {told['auc']:.5f}, PyTorch {theirs:.5f}")
    allowed = MOST_LOSS_DIFFERENCE
    if apart > allowed:
        # Both losses are equally far from the exact value.
        allowed = max(allowed, 2 * rounding(folder, network, optimizer, losses))
        print(f"  rounding alone may make them differ by {allowed:.1e}")
    exported = exported_agrees(folder, batch, told["scores"])
    return exported and apart <= allowed and abs(theirs - told["auc"]) <= MOST_AUC_DIFFERENCE


def main():
    torch.set_num_threads(1)
    runs = [(network, optimizer) for network in NETWORKS for optimizer in ("sgd", "adagrad", "adam")]
    # Not Adagrad: its step has full length even for a gradient that is only rounding, where a unit becomes active.
    runs += [(network, "sgd", "mean") for network in NETWORKS]
    runs += [("dlrm", "sgd", "clip"), ("dcn_v2", "adam", "clip", "mean")]
    runs += [(network, "sgd", "weighted") for network in NETWORKS] + [("dlrm", "adam", "clip", "weighted")]
    same = []
    for network, optimizer, *options in runs:
        with tempfile.TemporaryDirectory(prefix="forebay-compare-") as folder:
            subprocess.run([sys.argv[1], folder, network, optimizer, *options], check=True,
                           env={**os.environ, "OMP_WAIT_POLICY": "passive", "OPENBLAS_NUM_THREADS": "1"})
            same.append(compare(pathlib.Path(folder), network, optimizer))
    sys.exit(0 if all(same) else 1)


main()
