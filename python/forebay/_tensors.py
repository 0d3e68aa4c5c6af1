"""Batches as tensors of PyTorch and TorchRec, which are imported when they are asked for."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import ConfigError

if TYPE_CHECKING:
    from ._core import Array, Batch


def _arrays(batch: Batch) -> dict[str, Array]:
    arrays = {"labels": batch.labels, "dense": batch.dense, "values": batch.values, "lengths": batch.lengths}
    if batch.weights is not None:
        arrays["weights"] = batch.weights
    arrays.update((f"extra.{name}", array) for name, array in batch.extra.items())
    return arrays


def _address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


def to_torch(batch: Batch, device: Any = None) -> dict[str, Any]:
    """Returns views of the batch's memory, or, for another device, of one copy that is there.

    The copy is asynchronous: kernels of the current stream wait for it, the host does not."""
    import torch

    arrays = _arrays(batch)
    if device is None or torch.device(device).type == "cpu":
        return {name: torch.from_dlpack(array) for name, array in arrays.items()}
    if torch.device(device).type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"batch.torch({device!r}): PyTorch finds no CUDA device here; leave the device out for tensors "
                          "on the CPU")
    memory = batch._memory
    there = torch.from_dlpack(memory).pin_memory().to(device, non_blocking=True)
    tensors = {}
    for name, array in arrays.items():
        first = _address(array) - _address(memory) if array.nbytes else 0
        dtype = {"<f4": torch.float32, "<f8": torch.float64, "<i4": torch.int32, "<i8": torch.int64}[array.dtype]
        tensors[name] = there[first:first + array.nbytes].view(dtype).view(array.shape)
    return tensors


def to_kjt(batch: Batch, _: None = None) -> Any:
    """Returns the sparse columns as a KeyedJaggedTensor, whose tensors are views of the batch's memory."""
    import torch
    from torchrec.sparse.jagged_tensor import KeyedJaggedTensor

    return KeyedJaggedTensor(keys=batch._sparse_names, values=torch.from_dlpack(batch.values),
                             lengths=torch.from_dlpack(batch.lengths).reshape(-1))
