"""The keys with the largest shares of an instance's input in one frame.

A run records no counts by key. The records of its sources are a function of the document and the seed, so those that the sources read in
the frame are made again, and followed through stateless operators to the instance. The engine's own function assigns keys to groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.kernels.hashing import group_of
from engine.core.layout import SCHEME_KEY_GROUPS, SCHEME_MODULO
from engine.spec import Experiment, Refusal
from engine.spec.base.records import FieldType, RecordSchema
from engine.spec.experiment.partitionings.forward import Forward
from engine.spec.experiment.partitionings.hash import Hash
from engine.spec.experiment.query import Edge, OperatorSpec
from engine.spec.experiment.streams import FileStream
from engine.spec.expressions.columns import NotByColumn, evaluate
from engine.spec.expressions.parser import parse
from engine.spec.rules.copies import written_out
from engine.spec.rules.flow import Datasets
from engine.workloads import Feed, Strings, build_feed
from engine.workloads.traces import known

Words = NDArray[np.int64]
Holds = NDArray[np.bool_]
Frame = Mapping[str, Any]

KEYS = 10
"""Number of keys that are named."""
RECORDS_MAX = 1_000_000
"""Maximum number of records that are made again for one question."""
CELLS_MAX = 10_000_000
"""Maximum number of cells of the data sets that are read for one question: 80 MB, and more for texts."""


class CannotTell(Exception):
    """The keys cannot be told; the message is a sentence that says why."""


@dataclass(frozen=True)
class HotKey:
    """records: real records of the key that went to the instance. share: of the instance's records."""

    key: str
    records: int
    share: float


@dataclass(frozen=True)
class HotKeys:
    """field: by whose value records are assigned to instances; several names, if edges have different ones. records: real records that went
    to the instance; of_operator: to all instances. distinct: number of keys of the instance. keys: those with the most records, at most
    `KEYS`."""

    field: str
    records: int
    of_operator: int
    distinct: int
    keys: tuple[HotKey, ...]


@dataclass(frozen=True)
class _Records:
    """n records on their way. columns: words of the fields that are needed, (n,) each. instance: index of the instance of the operator
    that they reached last, (n,); None if that depends on the state of the run. key: words of the key that decided on it, (n,). field, type:
    of the key. weight: real records per record."""

    columns: Mapping[str, Words]
    count: int
    weight: int
    instance: Words | None = None
    key: Words | None = None
    field: str = ""
    type: FieldType = "int"

    def where(self, chosen: Holds) -> _Records:
        return replace(
            self,
            columns={name: words[chosen] for name, words in self.columns.items()},
            count=int(chosen.sum()),
            instance=None if self.instance is None else self.instance[chosen],
            key=None if self.key is None else self.key[chosen],
        )


def hot_keys(
    experiment: Experiment,
    schemas: Mapping[str, RecordSchema],
    datasets: Datasets,
    operator: str,
    index: int,
    frame: Frame,
    before: Frame | None,
) -> HotKeys:
    """Return the keys with the largest shares of the records that the sources read in the frame and that went to an instance.

    schemas: of the document's ports, by "operator.port". frame: live frame. before: the one before it; None for the first. Raises
    CannotTell.
    """
    if copied := next((query for query in experiment.query.queries if query.copies is not None), None):
        raise CannotTell(f"Query '{copied.name}' runs in copies, and frames do not say which records each of them read.")
    return _Question(written_out(experiment), schemas, datasets, frame, before).answer(operator, index)


class _Question:
    def __init__(
        self, experiment: Experiment, schemas: Mapping[str, RecordSchema], datasets: Datasets, frame: Frame, before: Frame | None
    ) -> None:
        self.experiment, self.schemas, self.datasets, self.frame, self.before = experiment, schemas, datasets, frame, before
        self.specs: dict[str, OperatorSpec] = {spec.id: spec for spec in experiment.query.operators}
        self.strings = Strings()
        self.made = 0
        self.wanted: dict[str, set[str]] = {}  # the fields that are needed of each source
        self.feeds: dict[str, Feed] = {}

    def answer(self, operator: str, index: int) -> HotKeys:
        edges = [edge for edge in self.experiment.query.edges if edge.target == operator]
        if not edges:
            raise CannotTell(f"'{operator}' is a source: its input is divided into logs, not by a key.")
        for edge in edges:
            if not isinstance(edge.partitioning, Hash | Forward):
                raise CannotTell(not_by_key(edge))
        count, first = self._parallelism(operator), self._first(operator)
        if not first <= index < first + count:
            told = f"has {count} instances in this frame, numbered from 0" if first == 0 else f"is instance {first} in this frame"
            raise CannotTell(f"'{operator}' {told}; there is no {index}.")
        for _ in self._into(operator, frozenset()):  # without records: only to see which fields are needed
            pass
        self.feeds = self._made_feeds()
        arrivals = []
        for edge, records in self._into(operator, frozenset()):
            if records.instance is None:
                raise CannotTell(not_by_key(edge))
            arrivals.append(records)
        chosen = [(records, records.instance == index) for records in arrivals]
        words = [records.key[here] for records, here in chosen if records.key is not None]
        weights = [np.full(len(key), records.weight) for key, (records, _) in zip(words, chosen, strict=True)]
        keys, place = np.unique(np.concatenate(words), return_inverse=True)
        counts = np.bincount(place, np.concatenate(weights), minlength=len(keys)).astype(np.int64)
        total = int(counts.sum())
        most = np.lexsort((keys, -counts))[:KEYS].tolist()
        type = arrivals[0].type
        return HotKeys(
            field=", ".join(dict.fromkeys(records.field for records in arrivals)),
            records=total,
            of_operator=sum(records.count * records.weight for records in arrivals),
            distinct=len(keys),
            keys=tuple(HotKey(self._text(int(keys[at]), type), int(counts[at]), int(counts[at]) / total) for at in most),
        )

    def _text(self, word: int, type: FieldType) -> str:
        match type:
            case "string":
                return self.strings.text(word)
            case "bool":
                return "true" if word else "false"
            case "timestamp":
                whole, rest = divmod(abs(word), 1_000_000_000)
                return f"{'-' if word < 0 else ''}{whole}{f'.{rest:09}'.rstrip('0') if rest else ''} s"
        return str(word)

    # --- the way of the records -----------------------------------------------------------------------------------------------------------

    def _into(self, operator: str, wanted: frozenset[str]) -> Iterator[tuple[Edge, _Records]]:
        """Yield the records that an operator gets, by edge, with these fields and the instance that each goes to."""
        for edge in self.experiment.query.edges:
            if edge.target != operator:
                continue
            if edge.feedback:
                raise CannotTell(
                    f"'{operator}' has a feedback edge from '{edge.source}': its records are made in the run, not by the sources."
                )
            needed = wanted | ({edge.partitioning.key} if isinstance(edge.partitioning, Hash) else set())
            for records in self._out_of(edge.source, edge.source_port, needed):
                yield edge, self._routed(edge, records)

    def _routed(self, edge: Edge, records: _Records) -> _Records:
        if isinstance(edge.partitioning, Forward):
            return records
        if not isinstance(edge.partitioning, Hash):
            return replace(records, instance=None, key=None)
        keying = edge.partitioning.keying
        receivers = self._parallelism(edge.target)
        groups = keying.groups or receivers
        key = records.columns[keying.field]
        with np.errstate(over="ignore"):
            group: Words = group_of(key, SCHEME_KEY_GROUPS if keying.scheme == "mixed" else SCHEME_MODULO, groups)  # type: ignore[no-untyped-call]
        type = self.schemas[f"{edge.source}.{edge.source_port}"].field(keying.field).type
        return replace(records, instance=self._first(edge.target) + group * receivers // groups, key=key, field=keying.field, type=type)

    def _out_of(self, operator: str, port: str, wanted: frozenset[str]) -> Iterator[_Records]:
        """Yield the records that leave a port of an operator, with these fields."""
        spec = self.specs[operator]
        params: Any = spec.parameters
        match spec.kind:
            case "source":
                yield self._read(operator, wanted)
            case "filter":
                yield from self._filtered(operator, wanted, [params.predicate], lambda found: found[0])
            case "split":
                yield from self._split(operator, port, wanted, params)
            case "union":
                for _, records in self._into(operator, wanted):
                    yield records
            case "project":
                names = {chosen.output_name: chosen.field for chosen in params.fields if chosen.output_name in wanted}
                for _, records in self._into(operator, frozenset(names.values())):
                    yield replace(records, columns={name: records.columns[field] for name, field in names.items()})
            case "map":
                schema = self.schemas[f"{operator}.in"]
                made = {field.name: parse(field.expression, schema) for field in params.fields if field.name in wanted}
                for _, records in self._into(operator, frozenset(name for one in made.values() for name in one.fields)):
                    columns = {name: self._evaluated(operator, one, records) for name, one in made.items()}
                    yield replace(records, columns=columns)
            case kind:
                raise CannotTell(f"The records come from '{operator}' ({kind}), which makes records of its own from many others.")

    def _split(self, operator: str, port: str, wanted: frozenset[str], params: Any) -> Iterator[_Records]:
        predicates = [route.predicate for route in params.routes]

        def leaves(found: list[Holds]) -> Holds:
            if port == "rest":
                return ~np.logical_or.reduce(found)  # type: ignore[no-any-return]
            at = int(port.removeprefix("out")) - 1
            for earlier in found[:at] if params.mode == "first" else ():
                found[at] = found[at] & ~earlier
            return found[at]

        yield from self._filtered(operator, wanted, predicates, leaves)

    def _filtered(
        self, operator: str, wanted: frozenset[str], predicates: list[str], leaves: Callable[[list[Holds]], Holds]
    ) -> Iterator[_Records]:
        """Yield the records that leave. leaves: which of them do, given for which each predicate holds."""
        parsed = [parse(predicate, self.schemas[f"{operator}.in"]) for predicate in predicates]
        for _, records in self._into(operator, wanted.union(*(one.fields for one in parsed))):
            kept = records.where(leaves([self._evaluated(operator, one, records) != 0 for one in parsed]))
            yield replace(kept, columns={name: kept.columns[name] for name in wanted})

    def _evaluated(self, operator: str, expression: Any, records: _Records) -> Words:
        try:
            words = np.broadcast_to(evaluate(expression.tree, records.columns.__getitem__, self.strings), (records.count,))
        except NotByColumn as lacking:
            raise CannotTell(f"The expression of '{operator}' uses {lacking}, which only the run itself evaluates.") from None
        if expression.tree.type == "string" and (words < 0).any():
            raise CannotTell(f"The expression of '{operator}' makes texts that its input does not have; only the run knows their codes.")
        return words

    def _parallelism(self, operator: str) -> int:
        """Number of active instances in the frame."""
        now, before = (self._scaled(operator, frame) for frame in (self.frame, self.before or self.frame))
        if now != before:
            raise CannotTell(f"'{operator}' went from {before} to {now} instances in this frame. Choose a frame before or after it.")
        return now

    def _first(self, operator: str) -> int:
        """Index of the first active instance in the frame: of an operator that moves, the number of its host."""
        now, before = (((frame.get("scaling") or {}).get("hosts") or {}).get(operator) for frame in (self.frame, self.before or self.frame))
        if now != before:
            raise CannotTell(f"'{operator}' moved from host '{before}' to '{now}' in this frame. Choose a frame before or after it.")
        return 0 if now is None else [host.name for host in self.experiment.expanded_hosts()].index(now)

    def _scaled(self, operator: str, frame: Frame) -> int:
        parallelism = (frame.get("scaling") or {}).get("parallelism") or {}
        return int(parallelism.get(operator, self.specs[operator].parallelism))

    # --- what the sources read ------------------------------------------------------------------------------------------------------------

    def _made_feeds(self) -> dict[str, Feed]:
        """All sources with the fields that are needed, in the run's order: the codes of texts depend on it."""
        sources = [spec.id for spec in self.experiment.query.operators if spec.kind == "source"]
        fields = [sorted(self.wanted.get(id, ())) for id in sources]
        try:
            self._refuse_large(sources)
            return {id: build_feed(self.experiment, id, n, self.strings, self.datasets, fields[n]) for n, id in enumerate(sources)}
        except Refusal as refusal:
            raise CannotTell(f"The input of the run is no longer there: {refusal}.") from None

    def _refuse_large(self, sources: list[str]) -> None:
        streams = [self.experiment.workload.sources[id].stream for id in sources]
        found = [known(stream.dataset, self.datasets) for stream in streams if isinstance(stream, FileStream)]
        cells = sum(one.rows * len(one.schema.fields) for one in found)
        if cells > CELLS_MAX:
            raise CannotTell(f"The data sets of the sources have {cells:,} cells; those of at most {CELLS_MAX:,} are read for keys.")

    def _read(self, source: str, wanted: frozenset[str]) -> _Records:
        """Return the records that a source read in the frame."""
        if self.experiment.workload.sources[source].generation.kind != "open":
            raise CannotTell(f"'{source}' has a closed loop: when its records are made depends on the state of the run.")
        if self.frame.get("dropped"):
            raise CannotTell("Logs dropped records in this frame, and a run does not record which.")
        if self.frame["operators"][source].get("shed"):
            raise CannotTell(f"'{source}' discarded records in this frame, and a run does not record which.")
        if not self.feeds:
            self.wanted.setdefault(source, set()).update(wanted)
            return _Records({name: np.empty(0, np.int64) for name in wanted}, 0, 1)
        feed = self.feeds[source]
        first, last = self._position(source, self.before), self._position(source, self.frame)
        span_s = self.frame["t_s"] - (self.before["t_s"] if self.before else 0.0)
        served = round(self.frame["operators"][source]["in_per_s"] * span_s / feed.weight)
        if last < first or served > last - first + 1:
            raise CannotTell(f"'{source}' read records again in this frame, after a recovery. Choose another frame.")
        self.made += last - first
        if self.made > RECORDS_MAX:
            raise CannotTell(f"The sources read more than {RECORDS_MAX:,} records in this frame. Shorter frames can be told.")
        end_ns = end_ns_of(self.frame)
        from_ns = max(0, time_ns_of(feed, first + 1, end_ns) - 1)
        chunk = feed.chunk(from_ns, time_ns_of(feed, last, end_ns))
        words = chunk.words[chunk.trigger >= 0][first - feed.count_before(from_ns) :][: last - first]
        columns = {name: np.ascontiguousarray(words[:, feed.fields.index(name)]) for name in wanted}
        return _Records(columns, last - first, feed.weight)

    def _position(self, source: str, frame: Frame | None) -> int:
        """Number of records that the source had read at the end of a frame."""
        if frame is None:
            return 0
        lag = frame["operators"][source].get("lag")
        if lag is None:
            raise CannotTell("The frames of this version of the engine do not say how far the sources had read. Run it again.")
        feed = self.feeds[source]
        return feed.count_before(end_ns_of(frame)) - int(lag) // feed.weight


def not_by_key(edge: Edge) -> str:
    way = edge.partitioning.title.lower()
    return (
        f"Records reach '{edge.target}' from '{edge.source}' by {way}, not by a key: the instance of a record depends on the run's state."
    )


def end_ns_of(frame: Frame) -> int:
    """First instant after a frame."""
    return round(float(frame["t_s"]) * 1e9) + 1


def time_ns_of(feed: Feed, count: int, end_ns: int) -> int:
    """Return the first time before which so many records have arrived; `end_ns` if no more arrive before it."""
    if feed.count_before(end_ns) <= count:
        return end_ns
    low, high = 0, end_ns
    while low < high:
        middle = (low + high) // 2
        if feed.count_before(middle) >= count:
            high = middle
        else:
            low = middle + 1
    return low
