"""A step of a DLRM on the CPU against the same step in PyTorch: same sizes, same threads, by turns.

usage: step_speed.py STEP_PROGRAM [ROUNDS [bf16]]; prints medians and their ratio; exits 77 where there is no torch.
With bf16 both multiply matrices in bfloat16, PyTorch by autocast. The BLAS kernels are what OPENBLAS_CORETYPE says for both. PyTorch has all
tables in one, so that one operator looks all ids up, and sparse gradients.
"""
import os
import statistics
import subprocess
import sys
import time

os.environ.setdefault("OMP_WAIT_POLICY", "passive")
try:
    import torch
except ImportError:
    print(f"skipped: {sys.executable} has no torch (Debian: apt-get install python3-torch)")
    sys.exit(77)

TABLES, DENSE, ROWS, BATCHES, THREADS = 26, 13, 100000, 8, 2
SIZES = [(dim, batch, mlp) for mlp in ("big", "small") for dim in (16, 32) for batch in (2048, 8192)]


def mlp(*widths, last):
    layers = []
    for width, following in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(width, following), torch.nn.ReLU()]
    return torch.nn.Sequential(*(layers if last else layers[:-1]))


class Dlrm(torch.nn.Module):
    def __init__(self, dim, big):
        super().__init__()
        self.dim = dim
        self.table = torch.nn.EmbeddingBag(TABLES * ROWS, dim, mode="sum", sparse=True)
        self.bottom = mlp(*((DENSE, 512, 256, 64, dim) if big else (DENSE, 64, dim)), last=True)
        pairs = dim + (TABLES + 1) * TABLES // 2
        self.top = mlp(*((pairs, 512, 256, 1) if big else (pairs, 64, 1)), last=False)
        rows, columns = torch.tril_indices(TABLES + 1, TABLES + 1, offset=-1)
        self.pairs = rows * (TABLES + 1) + columns

    def forward(self, dense, ids, starts):
        bottom = self.bottom(dense)
        vectors = self.table(ids, starts).view(-1, TABLES, self.dim)
        z = torch.cat([bottom.unsqueeze(1), vectors], 1)
        dots = torch.bmm(z, z.transpose(1, 2)).flatten(1).index_select(1, self.pairs)
        return self.top(torch.cat([bottom, dots], 1)).squeeze(1)


class Theirs:
    def __init__(self, dim, batch, kind, bf16):
        self.bf16 = bf16
        self.model = Dlrm(dim, kind == "big")
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=0.01)
        fields = torch.arange(TABLES) * ROWS
        self.batches = [(torch.rand(batch, DENSE), (torch.randint(0, ROWS, (batch, TABLES)) + fields).flatten(),
                         torch.arange(batch * TABLES), torch.randint(0, 2, (batch,)).float())
                        for _ in range(BATCHES)]
        self.turn()

    def turn(self):
        began = time.perf_counter()
        for dense, ids, starts, labels in self.batches:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.bf16):
                logits = self.model(dense, ids, starts)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits.float(), labels)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
        return (time.perf_counter() - began) / BATCHES


def main():
    torch.set_num_threads(THREADS)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    bf16 = sys.argv[3:] == ["bf16"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    for dim, batch, kind in SIZES:
        theirs = Theirs(dim, batch, kind, bf16)
        command = [sys.argv[1], str(dim), str(batch), kind, str(THREADS), "bf16" if bf16 else "fp32"]
        with subprocess.Popen(command, env=environment, text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as ours:
            taken = []
            for _ in range(rounds):
                ours.stdin.write("\n")
                ours.stdin.flush()
                taken.append((float(ours.stdout.readline()), theirs.turn()))
            ours.stdin.close()
        our_median, their_median = (statistics.median(times) for times in zip(*taken))
        ratio = statistics.median(b / a for a, b in taken)
        print(f"dim {dim}, batch {batch}, {kind}: {1e3 * our_median:.2f} ms, PyTorch {1e3 * their_median:.2f} ms: "
              f"{ratio:.2f} times as fast", flush=True)


main()
