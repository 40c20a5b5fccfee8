"""Runs from start to end, and their results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from engine.assertions.judging import judge
from engine.core import weave
from engine.spec import read_document
from engine.spec.experiment.assertion import Verdict, not_judged
from engine.spec.experiment.selection import Selection
from engine.telemetry.recorded import Recorded

from .attribution import Waterfall
from .record_paths import waterfalls, waterfalls_at_hand
from .simulation import FIXTURES, Simulation

EXAMPLES = FIXTURES.parent / "experiments"


class Run:
    """A finished run: digest, summary, verdicts on its assertions, live frames, records of the sinks."""

    def __init__(self, simulation: Simulation, frames: list[dict[str, Any]]):
        self.simulation, self.frames = simulation, frames
        self.digest = simulation.digest()
        self.summary = simulation.summary()
        self.verdicts = verdicts(simulation, self.summary, simulation.telemetry.recorded)

    def outputs(self, sink: str) -> pa.Table:
        """Records that a sink delivered. Needs run(..., keep_outputs=True)."""
        return self.simulation.outputs(sink)

    def waterfalls(
        self,
        *,
        slowest: int = 0,
        sample: Mapping[str, Any] | None = None,
        between: Mapping[str, int] | None = None,
        records: Sequence[Mapping[str, Any]] = (),
    ) -> list[Waterfall]:
        """Where the time of chosen records went (`engine.spec.experiment.selection.Selection`), by delivery.

        The run is repeated twice for this, unless it kept everything (trace=True, keep_outputs=True).
        Raises pydantic's ValidationError for an invalid selection, Refusal for records that were never delivered.
        """
        chosen = Selection.model_validate({"slowest": slowest, "sample": sample, "between": between, "records": list(records)})
        if self.simulation.observed:
            return waterfalls_at_hand(self.simulation, chosen)
        return waterfalls(lambda keep_outputs: self.simulation.again(keep_outputs=keep_outputs), chosen, digest=self.digest)


def verdicts(simulation: Simulation, summary: Mapping[str, Any], recorded: Callable[[], Recorded]) -> tuple[Verdict, ...]:
    """The verdicts on a run that has ended. recorded: all that it recorded, as for `judge`."""
    if ended := simulation.deadlock or simulation.exhaustion:
        return not_judged(simulation.experiment.assertions, f"the run ended early: {ended}")
    return judge(simulation.experiment, summary, recorded)


def run(
    document: Any, *, on_frame: Callable[[dict[str, Any]], None] | None = None, out: str | os.PathLike[str] | None = None, **options: Any
) -> Run:
    """Run an experiment to its end. on_frame is called with each live frame; out: directory for telemetry files."""
    simulation = Simulation(document, **options)
    frames = []
    while (frame := simulation.advance()) is not None:
        frames.append(frame)
        if on_frame is not None:
            on_frame(frame)
    done = Run(simulation, frames)
    if out is not None:
        simulation.telemetry.write(out)
    return done


def warm_up(ended: Callable[[], bool] = lambda: False) -> None:
    """Compile or load the loops of the examples that come with Millrace, so that their first runs start at once.

    ended: checked after each example; True stops.
    """
    tiny = {
        "format": 1,
        "query": {
            "operators": [{"id": "bids", "kind": "source"}, {"id": "sink", "kind": "sink"}],
            "edges": [{"source": "bids", "target": "sink", "partitioning": {"kind": "forward"}}],
        },
        "workload": {
            "horizon_s": 0.01,
            "sources": {"bids": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1000}}},
        },
    }
    examples = [read_document(path) for path in EXAMPLES.glob("*.yaml")]
    used = {
        (
            tuple(sorted({operator["kind"] for operator in example["query"]["operators"]})),
            example["cluster"]["hosts"][0]["processor"]["kind"],
        )
        for example in examples
    }
    for kinds, processor in sorted(used)[:1] if weave.shares_loops() else sorted(used):
        if ended():
            return
        run({**tiny, "cluster": {"hosts": [{"name": "w", "cores": 2, "processor": {"kind": processor}}]}}, kinds=kinds).simulation.digest()
