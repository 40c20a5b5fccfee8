"""One model trained by several processes: each takes a share of every batch, and their gradients are added up. Needs torch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import torch
from torch import distributed, nn

from .packing import Ints


class Group(Protocol):
    """The processes that train a model. share: of the examples of a batch, those of this process."""

    rank: int

    def share(self, batch: Ints) -> Ints: ...

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None: ...

    def sum(self, value: float) -> float: ...


class Alone:
    """A group of one process."""

    rank = 0

    def share(self, batch: Ints) -> Ints:
        return batch

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        pass

    def sum(self, value: float) -> float:
        return value


class Together:
    """A process of a group that `torchrun`, and so Spark's TorchDistributor, has started: its environment says which one it is."""

    def __init__(self) -> None:
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        self.rank, self._size = distributed.get_rank(), distributed.get_world_size()

    def share(self, batch: Ints) -> Ints:
        return batch[self.rank :: self._size]

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """What no process has used keeps no gradient, as with one process: the optimiser leaves it as it is."""
        each = list(parameters)
        gradients = [torch.zeros_like(one) if one.grad is None else one.grad for one in each]
        used = torch.tensor([one.grad is not None for one in each], dtype=gradients[0].dtype, device=gradients[0].device)
        whole = torch.cat([used, *(gradient.reshape(-1) for gradient in gradients)])
        distributed.all_reduce(whole)
        first = len(each)
        for one, by in zip(each, whole[:first].tolist(), strict=True):
            one.grad = whole[first : first + one.numel()].reshape(one.shape).clone() if by else None
            first += one.numel()

    def sum(self, value: float) -> float:
        whole = torch.tensor([value], dtype=torch.float64, device="cuda" if distributed.get_backend() == "nccl" else "cpu")
        distributed.all_reduce(whole)
        return float(whole)

    def end(self) -> None:
        distributed.destroy_process_group()
