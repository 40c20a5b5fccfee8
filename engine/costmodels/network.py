"""The graph network (Heinrich et al. 2024, Algorithm 1; specification 3.2). Needs torch."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from .architecture import Architecture
from .encoding import Floats
from .packing import TYPES, Batch, Ints, Step

OPERATORS = tuple(name for name in TYPES if name != "host")


def _layers(widths: list[int], dropout: float) -> nn.Sequential:
    """Each layer with activation and dropout."""
    made: list[nn.Module] = []
    for before, after in pairwise(widths):
        made += [nn.Linear(before, after), nn.LeakyReLU(), nn.Dropout(dropout)]
    return nn.Sequential(*made)


class Network(nn.Module):
    """widths: numbers that encoded nodes have, by type; types that training did not have are left out, and count as nothing."""

    def __init__(self, widths: Mapping[str, int], architecture: Architecture):
        super().__init__()
        self.architecture = architecture
        d, dropout = architecture.hidden, architecture.dropout
        known = [name for name in TYPES if widths.get(name, 0)]
        inputs = {name: 1 if name == "host" and architecture.hosts == "nodes" else widths[name] for name in known}
        self.encoders = nn.ModuleDict({name: _layers([inputs[name]] * 3 + [d], dropout) for name in known})

        def updates(names: list[str]) -> nn.ModuleDict:
            return nn.ModuleDict({name: _layers([2 * d] * 3 + [d], dropout) for name in names})

        operators = [name for name in known if name != "host"]
        if architecture.passing == "traditional":
            self.shared = _layers([2 * d] * 3 + [d], dropout)
        else:
            with_hosts = architecture.hosts != "none"
            self.up = updates(["host"] if with_hosts else [])
            self.down = updates(operators if with_hosts else [])
            self.flow = updates([name for name in operators if name != "source"])
        middle = [] if architecture.classifies else [nn.Linear(d, d), nn.LeakyReLU(), nn.Linear(d, d), nn.LeakyReLU()]
        self.out = nn.Sequential(*middle, nn.Linear(d, 1))

    @property
    def device(self) -> torch.device:
        """Where its weights are, and its states are computed."""
        return next(self.parameters()).device

    def forward(self, batch: Batch) -> Tensor:
        """(graphs,) of numbers: the logarithm of 1 + the cost, or a logit."""
        return self.read_out(self.states(batch), batch)

    def states(self, batch: Batch) -> Tensor:
        """(nodes, hidden) after all steps."""
        h = self.encoded(batch)
        if self.architecture.passing == "traditional":
            return self._heard_all(h, batch)
        if self.architecture.hosts != "none":
            h = self.passed(h, batch.up, self.up)
            h = self.passed(h, batch.down, self.down)
        for level in batch.levels:
            h = self.passed(h, level, self.flow)
        return h

    def encoded(self, batch: Batch) -> Tensor:
        """(nodes, hidden). Nodes without an encoder are zeros."""
        h = self._zeros(batch.count)
        for name, numbers in batch.nodes.items():
            if name not in self.encoders or (name == "host" and self.architecture.hosts == "none"):
                continue
            x = self._tensor(batch.features[name])
            if name == "host" and self.architecture.hosts == "nodes":
                x = torch.zeros(len(numbers), 1, device=self.device)
            h = h.index_copy(0, self._numbers(numbers), self.encoders[name](x))
        return h

    def passed(self, h: Tensor, steps: tuple[Step, ...], updates: nn.ModuleDict) -> Tensor:
        """All nodes of the steps at once: each adds up the states of its senders, and updates its own. Others keep theirs."""
        fresh, at = [], []
        for step in steps:
            if step.type in updates:
                senders, receivers = self._numbers(step.messages)
                nodes = self._numbers(step.nodes)
                heard = self._zeros(len(step.nodes)).index_add(0, receivers, h[senders])
                fresh.append(updates[step.type](torch.cat([h[nodes], heard], 1)))
                at.append(nodes)
        return h.index_copy(0, torch.cat(at), torch.cat(fresh)) if fresh else h

    def _heard_all(self, h: Tensor, batch: Batch) -> Tensor:
        steps = [step for level in batch.levels for step in level]
        if self.architecture.hosts != "none":
            steps += batch.up
        pairs = [self._numbers(np.stack([step.messages[0], step.nodes[step.messages[1]]])) for step in steps]
        one_way = torch.cat(pairs, 1)
        senders, receivers = torch.cat([one_way, one_way.flip(0)], 1)
        for _ in range(self.architecture.rounds):
            heard = self._zeros(batch.count).index_add(0, receivers, h[senders])
            h = self.shared(torch.cat([h, heard], 1))
        return h

    def read_out(self, h: Tensor, batch: Batch) -> Tensor:
        if self.architecture.readout == "sink":
            sinks = batch.nodes["sink"]
            h, graph = h[self._numbers(sinks)], batch.graph[sinks]
        else:
            graph = batch.graph
            if self.architecture.hosts == "none":
                operators = np.flatnonzero(~np.isin(np.arange(batch.count), batch.nodes["host"]))
                h, graph = h[self._numbers(operators)], graph[operators]
        z = self._zeros(batch.graphs).index_add(0, self._numbers(graph), h)
        numbers: Tensor = self.out(z)[:, 0]
        return numbers

    def _zeros(self, rows: int) -> Tensor:
        return torch.zeros(rows, self.architecture.hidden, device=self.device)

    def _tensor(self, values: Floats) -> Tensor:
        return torch.from_numpy(values.astype(np.float32)).to(self.device)

    def _numbers(self, values: Ints) -> Tensor:
        return torch.from_numpy(values).to(self.device)
