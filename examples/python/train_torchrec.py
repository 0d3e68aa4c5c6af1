"""A DLRM of TorchRec on Forebay's batches, whose sparse columns are a KeyedJaggedTensor without a copy.

usage: train_torchrec.py JOB [BATCHES]"""
import sys

import forebay

try:
    import torch
    from torchrec import EmbeddingBagCollection, EmbeddingBagConfig
    from torchrec.models.dlrm import DLRM
except (ImportError, OSError) as error:  # its extensions fail to load beside another version of PyTorch
    sys.exit(f"train_torchrec: TorchRec cannot be used here ({str(error).splitlines()[0]}); pip install torchrec fbgemm-gpu-cpu")

HASHED, WIDTH = 100_000, 16


def main(job, batches="200"):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(0)
    with forebay.Loader(job) as loader:
        names = loader.schema.sparse
        tables = [EmbeddingBagConfig(name=f"table_{name}", embedding_dim=WIDTH, num_embeddings=HASHED, feature_names=[name])
                  for name in names]
        model = DLRM(EmbeddingBagCollection(tables=tables, device=device), len(loader.schema.dense), [64, WIDTH], [64, 1],
                     dense_device=device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        for count, batch in enumerate(loader, 1):
            sparse = batch.kjt().to(device)
            # Ids have to be rows of the tables; a job whose ids are (sigrid_hash with max_value) does without this line.
            sparse = type(sparse)(keys=sparse.keys(), values=sparse.values() % HASHED, lengths=sparse.lengths())
            logits = model(torch.from_dlpack(batch.dense).to(device), sparse).squeeze(1)
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, torch.from_dlpack(batch.labels).to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if count % 50 == 0 or count == int(batches):
                print(f"batch {batch.index}: loss {loss.item():.4f}", flush=True)
            if count == int(batches):
                break


if __name__ == "__main__":
    main(*sys.argv[1:])
