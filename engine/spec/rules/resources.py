"""Checks of hosts, placement and workload, and of the run against its budgets."""

from __future__ import annotations

import importlib
import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..base.family import kind_of
from ..base.problems import Problem, Refusal, pointer, suggestion
from ..base.structure import refusal_problem
from ..base.units import scaled, seconds_ns
from ..experiment import registry
from ..experiment.cluster import ExpandedHost, machine_count
from ..experiment.delays.base import Delay
from ..experiment.delays.switched import SwitchedDelay
from ..experiment.faults.host_fault import HostFault
from ..experiment.query import OperatorSpec, with_all_copies
from ..experiment.rates.recorded import RecordedRate
from ..experiment.scaling.base import Scaling
from ..experiment.scaling.looped import Looped
from ..experiment.scaling.moving import Moving
from ..experiment.scheduling.switched import final_threads
from ..experiment.streams import FileStream
from ..experiment.workload import SourceWorkload, Workload
from .draft import Draft, section
from .event_time import calendar_text, event_zero_ns
from .flow import Datasets
from .graph import at_operator
from .network import network_problems
from .scale import scale_problems


@dataclass(frozen=True)
class Budgets:
    """Limits of one run. Each bounds memory, computing time or the size of a page."""

    records_max: int = 20_000_000
    """Input records, all of which the logs hold."""
    coordinates_max: int = 200_000_000
    """Coordinates of all vectors that records carry by number; each takes 8 bytes."""
    operators_max: int = 1_000
    edges_max: int = 10_000
    hosts_max: int = 1_000
    links_max: int = 100_000
    """Links in trunks and faults, and those with the bandwidth of a region link; each takes a row of its own."""
    instances_max: int = 20_000
    channels_max: int = 4_000_000
    frames_max: int = 200_000
    """Rows of telemetry per instance."""
    watermarks_max: int = 20_000_000
    """Ticks of all source instances."""
    checks_max: int = 200_000
    """Retention checks of a source's log."""
    scrapes_max: int = 200_000
    """Scrapes of all gauges for a policy."""
    scheduling_cycles_max: int = 200_000
    """Cycles of a scheduler, each of which looks at all operators of a host."""
    oracle_minutes_max: int = 1_440
    """Minutes that the oracle plans before the run; its work grows with their square."""
    drift_steps_max: int = 200_000
    """Factors of a drifting cost, all computed before the run."""


def resource_problems(draft: Draft, datasets: Datasets, budgets: Budgets) -> Iterator[Problem]:
    yield from _hosts(draft, budgets)
    yield from network_problems(draft, budgets.links_max)
    yield from _faults(draft)
    yield from _prices(draft)
    yield from _source_entries(draft)
    yield from _partitions(draft)
    yield from _sizes(draft, budgets)
    yield from _records(draft, datasets, budgets)
    yield from _files_after_the_horizon(draft, datasets)
    yield from scale_problems(draft)
    yield from _times(draft, budgets)


def placed(placement: Any, operators: Sequence[OperatorSpec], hosts: Sequence[ExpandedHost]) -> dict[str, list[int]]:
    """Host indices by operator id, one per instance. Raises `Refusal` (path below the placement)."""
    indices: dict[str, list[int]] = importlib.import_module("engine.placement").place(placement, operators, hosts)
    for operator in operators:
        given = indices.get(operator.id, [])
        if len(given) != operator.parallelism or not all(0 <= index < len(hosts) for index in given):
            message = (
                f"placement {placement.kind} gives '{operator.id}' the hosts {given[:10]} for {operator.parallelism} instances; "
                f"its `place` must return for each an index from 0 to {len(hosts) - 1}"
            )
            raise Refusal(message, at=("kind",), code="bad_strategy", value=placement.kind)
    return indices


class Placing:
    """The placement of a draft: host indices by operator id, over all copies (None if unknown), and its problems. laid_out: the same at
    each operator's highest possible parallelism."""

    def __init__(self, draft: Draft, budgets: Budgets):
        self.indices: dict[str, list[int]] | None = None
        self.laid_out: dict[str, list[int]] | None = None
        self.problems: list[Problem] = []
        hosts, placement = draft.hosts, draft.placement
        if hosts is None or placement is None or _instances(draft) > budgets.instances_max:
            return
        if placement.kind == "explicit":
            self.problems += _explicit(draft, placement.hosts, {host.name for host in hosts})
        if self.problems or not draft.by_id:
            return
        try:
            self.indices = placed(placement, with_all_copies(list(draft.by_id.values()), draft.copies), hosts)
            larger = placed(placement, with_all_copies(list(draft.laid_out.values()), draft.copies), hosts)
        except Refusal as refusal:
            self.problems.append(refusal_problem(refusal, ("placement",)))
            return
        self.laid_out = {id: [*first, *larger[id][len(first) :]] for id, first in self.indices.items()}
        if isinstance(draft.scaling, Moving):
            self.laid_out = {id: list(range(len(hosts))) for id in self.indices}
        self.problems += _dedicated(hosts, self.indices) or _dedicated_later(draft, hosts, self.laid_out)
        self.problems += _attainable_with_sharing(draft, hosts, self.laid_out)


def _explicit(draft: Draft, named: Mapping[str, Sequence[str]], known: set[str]) -> Iterator[Problem]:
    """Yield all problems of an explicit placement."""
    for id, names in named.items():
        if id not in draft.ids:
            message = f"placement has hosts for '{id}', but the query has no such operator; remove the entry or correct its name"
            yield Problem(pointer("placement", "hosts", id), "unknown_operator", message, id, suggestion(id, draft.ids))
        for position, name in enumerate(names):
            if name not in known:
                message = f"placement puts '{id}' on host '{name}', which the cluster does not have; name one of its hosts"
                place = pointer("placement", "hosts", id, position)
                yield Problem(place, "unknown_host", message, name, suggestion(name, known))
    for id in draft.by_id:
        if not named.get(id):
            message = f"placement names no host for operator '{id}'; list at least one"
            yield Problem(pointer("placement", "hosts", id), "missing", message, id, suggestion("", known))


def _dedicated(hosts: Sequence[ExpandedHost], indices: Mapping[str, list[int]]) -> list[Problem]:
    """Hosts with more instances than dedicated cores."""
    return [
        Problem(
            pointer("cluster", "hosts", host.template, "cores"),
            "too_few_cores",
            f"cores is {host.cores_milli // 1000}, but {load} instances run on host '{host.name}', each with its own core; give it at "
            f"least {load} cores, share them (shared_fifo), or place fewer instances there",
            host.cores_milli // 1000,
        )
        for host, load in _overloaded_hosts(hosts, indices)
    ]


def _dedicated_later(draft: Draft, hosts: Sequence[ExpandedHost], indices: Mapping[str, list[int]]) -> list[Problem]:
    """Like `_dedicated`, for all parallelisms that the run may reach. indices: hosts of all possible instances."""
    workers_max = getattr(draft.scaling, "workers_max", None)
    of_at_most = "" if workers_max is None else f" of at most {workers_max}"
    lower = "" if workers_max is None else ", or lower policies.scaling.workers_max"
    return [
        Problem(
            pointer("cluster", "hosts", host.template, "cores"),
            "too_few_cores",
            f"cores is {host.cores_milli // 1000}, but up to {load}{of_at_most} instances may run on host '{host.name}', each with its own "
            f"core; give it at least {load} cores{',' if lower else ', or'} share them (shared_fifo){lower}",
            host.cores_milli // 1000,
        )
        for host, load in _overloaded_hosts(hosts, indices, workers_max)
    ]


def _overloaded_hosts(
    hosts: Sequence[ExpandedHost], indices: Mapping[str, list[int]], most: int | None = None
) -> Iterator[tuple[ExpandedHost, int]]:
    """For each host entry, the fullest host with more instances than dedicated cores, and its number of instances. most: the largest
    number of instances active at a time."""
    load = Counter(index for placed_on in indices.values() for index in placed_on)
    if most is not None:
        load = Counter({index: min(count, most) for index, count in load.items()})
    fullest: dict[int, ExpandedHost] = {}
    for host in hosts:
        other = fullest.get(host.template)
        dedicated, more = host.processor.kind == "dedicated", 1000 * load[host.index] > host.cores_milli
        if dedicated and more and (other is None or load[host.index] > load[other.index]):
            fullest[host.template] = host
    return ((host, load[host.index]) for host in fullest.values())


def _attainable_with_sharing(draft: Draft, hosts: Sequence[ExpandedHost], indices: Mapping[str, list[int]]) -> Iterator[Problem]:
    """With processor sharing, the share taken by other threads follows from the model and cannot be given."""
    sharing = ("processor_sharing", "pool") if draft.scheduling and final_threads(draft.scheduling) else ("processor_sharing",)
    for id, spec in draft.by_id.items():
        shared = next((hosts[index] for index in indices[id] if hosts[index].processor.kind in sharing), None)
        if shared is not None and spec.cost is not None and spec.cost.attainable < 1:
            message = (
                f"attainable is {spec.cost.attainable:g}, but '{id}' runs on host '{shared.name}', where processor sharing itself "
                "determines its share of a core; omit attainable, or choose another processor"
            )
            yield Problem(f"{at_operator(draft, id)}/cost/attainable", "shared_cores", message, spec.cost.attainable)


def _hosts(draft: Draft, budgets: Budgets) -> Iterator[Problem]:
    if draft.cluster is None:
        return
    machines = machine_count(draft.cluster)
    if draft.hosts is None:
        message = f"hosts has {machines:,} machines, {machines - budgets.hosts_max:,} above the budget; use at most {budgets.hosts_max:,}"
        yield Problem(pointer("cluster", "hosts"), "budget", message, machines)
        return
    owner: dict[str, int] = {}
    for host in draft.hosts:
        first = owner.setdefault(host.name, host.template)
        if first != host.template:
            message = f"the host name '{host.name}' comes from both entry {first + 1} and entry {host.template + 1} of the list; rename one"
            yield Problem(pointer("cluster", "hosts", host.template, "name"), "duplicate_name", message, host.name)
            break


def _prices(draft: Draft) -> Iterator[Problem]:
    name = section(draft.document, "prices")
    lists = registry.price_lists()
    if isinstance(name, str) and name not in lists:
        message = f"prices is '{name}', but there is no such price list; it must be one of {', '.join(lists)}"
        yield Problem(pointer("prices"), "unknown_prices", message, name, suggestion(name, lists))


def _source_entries(draft: Draft) -> Iterator[Problem]:
    sources = [id for id, kind in draft.kinds.items() if not kind.inputs]
    for id in sources:
        if id not in draft.source_ids:
            message = f"source '{id}' has no workload; add an entry '{id}' with a stream and a rate under workload.sources"
            yield Problem(at_operator(draft, id), "missing_workload", message, id)
    for id in draft.source_ids:
        place = pointer("workload", "sources", id)
        if id not in draft.ids:
            message = f"sources has an entry for '{id}', but the query has no such operator; remove it or correct its name"
            yield Problem(place, "unknown_operator", message, id, suggestion(id, sources))
        elif id in draft.kinds and id not in sources:
            message = f"sources has an entry for '{id}', which is a {draft.kinds[id].kind}, not a source; remove it"
            yield Problem(place, "not_a_source", message, id)


def _partitions(draft: Draft) -> Iterator[Problem]:
    for id, source in draft.sources.items():
        operator, given = draft.by_id.get(id), source.partitions
        if operator is None or given is None or given == operator.parallelism:
            continue
        if given < operator.parallelism:
            wrong = f"so some of its instances would get no partition; it must be at least {operator.parallelism}"
        elif source.watermarks.kind == "device":
            wrong = "and an instance cannot separate the devices' watermarks of several partitions; omit it, or choose bounded watermarks"
        elif source.generation.kind == "coordinated":
            wrong = "and coordinated generation needs one partition per instance; omit it, or choose open generation"
        else:
            continue
        message = f"partitions is {given}, but '{id}' has {operator.parallelism} instances, {wrong}"
        yield Problem(pointer("workload", "sources", id, "partitions"), "wrong_partitions", message, given)


def _sizes(draft: Draft, budgets: Budgets) -> Iterator[Problem]:
    specs = draft.laid_out
    grows = " at their highest possible parallelism, which is allocated from the start" if specs is not draft.by_id else ""
    lower = "lower policies.scaling.workers_max or tighten its bounds" if grows else "lower parallelism"
    moves = isinstance(draft.scaling, Moving)
    if moves:
        grows, lower = ", one for each host, since operators may move", "use fewer hosts or operators"
    copies = draft.copies
    of_all = ", copies counted," if any(count > 1 for count in copies.values()) else ""
    instances = _instances(draft)
    if instances > budgets.instances_max:
        message = (
            f"operators has {instances:,} instances in total{of_all}{grows}, {instances - budgets.instances_max:,} above the budget; "
            f"{lower} to at most {budgets.instances_max:,} in total"
        )
        yield Problem(pointer("query", "operators"), "budget", message, instances)
    channels = 0
    for edge in draft.edges.values():
        source, target = specs.get(edge.source), specs.get(edge.target)
        if source is not None and target is not None:
            one_to_one = edge.partitioning.one_to_one and not moves  # from each host to each, if operators move
            each = source.parallelism * (1 if one_to_one else target.parallelism)
            channels += each * max(copies.get(edge.source, 1), copies.get(edge.target, 1))
    if channels > budgets.channels_max:
        message = (
            f"edges has {channels:,} channels in total{of_all}{grows}, {channels - budgets.channels_max:,} above the budget; "
            f"{lower}{'' if moves else ' or use forward'}, for at most {budgets.channels_max:,} in total"
        )
        yield Problem(pointer("query", "edges"), "budget", message, channels)


def _instances(draft: Draft) -> int:
    """All instances of the run, each copy of a query counted."""
    return sum(spec.parallelism * draft.copies.get(id, 1) for id, spec in draft.laid_out.items())


def records_due(workload: Workload, source: SourceWorkload, datasets: Datasets) -> Callable[[int], int] | None:
    """See `engine.workloads.due.due`."""
    due = importlib.import_module("engine.workloads.due").due
    count: Callable[[int], int] | None = due(source, workload.horizon_ns, workload.scale, datasets)
    return count


def _records(draft: Draft, datasets: Datasets, budgets: Budgets) -> Iterator[Problem]:
    if draft.workload is None:
        return
    horizon_s, horizon_ns = draft.workload.horizon_s, draft.workload.horizon_ns
    known: list[tuple[int, Callable[[int], int]]] = []
    coordinates: dict[str, int] = {}
    for id, source in draft.sources.items():
        try:
            count = records_due(draft.workload, source, datasets)
        except Refusal as refusal:
            yield refusal_problem(refusal, ("workload", "sources", id))
            continue
        if count is not None:
            known.append((draft.copies.get(id, 1), count))
            coordinates[id] = draft.copies.get(id, 1) * count(horizon_ns) * _dimensions(source, datasets)
    yield from _coordinates(coordinates, budgets)

    def total(time_ns: int) -> int:
        return sum(copies * count(time_ns) for copies, count in known)

    records = total(horizon_ns)
    if records == 0 and known and len(known) == len(draft.source_ids):
        id = next(iter(draft.sources))
        place = pointer("workload", "sources", id, "rate") if len(known) == 1 else pointer("workload", "sources")
        message = f"no source has a record before horizon_s ({horizon_s:g}); give at least one a rate above 0 before that time"
        yield Problem(place, "no_records", message, kind_of(type(draft.sources[id].rate)))
    if records > budgets.records_max:
        fitting_ns = bisect_right(range(horizon_ns), budgets.records_max, key=total) - 1
        message = (
            f"horizon_s is {horizon_s:g}, which at these rates gives {records:,} records, {records - budgets.records_max:,} above the "
            f"budget of {budgets.records_max:,}; "
        )
        if fitting_ns > 0:
            digit = 10.0 ** (math.floor(math.log10(fitting_ns / 1e9)) - 2)  # three digits, rounded down so that the suggested value fits
            message += f"at these rates it must be at most {math.floor(fitting_ns / 1e9 / digit) * digit:g}"
        else:
            message += "upload a sample of the file"
        yield Problem(pointer("workload", "horizon_s"), "budget", message, horizon_s)


def _dimensions(source: SourceWorkload, datasets: Datasets) -> int:
    """Of all vectors that a record of the source carries by number."""
    try:
        dataset = datasets(source.stream.dataset) if isinstance(source.stream, FileStream) else None
        schema = source.stream.record_schema(dataset)
    except Refusal:
        return 0  # reported when the stream's fields are checked
    return sum(field.dimensions for field in schema.fields)


def _coordinates(by_source: Mapping[str, int], budgets: Budgets) -> Iterator[Problem]:
    total = sum(by_source.values())
    if total > budgets.coordinates_max:
        id = max(by_source, key=lambda id: by_source[id])
        message = (
            f"the vectors of all records have {total:,} coordinates, {total - budgets.coordinates_max:,} above the budget of "
            f"{budgets.coordinates_max:,}, most of them at '{id}'; lower the rate, the horizon or the dimensions"
        )
        yield Problem(pointer("workload", "sources", id, "stream"), "budget", message, total)


def _files_after_the_horizon(draft: Draft, datasets: Datasets) -> Iterator[Problem]:
    """Files replayed at their own times without a record before the horizon, because another file begins much earlier."""
    zero_ns = event_zero_ns(draft.sources, datasets)
    if draft.workload is None or zero_ns is None:
        return
    horizon_s, horizon_ns = draft.workload.horizon_s, draft.workload.horizon_ns
    for id, source in draft.sources.items():
        if not (isinstance(source.stream, FileStream) and isinstance(source.rate, RecordedRate)):
            continue
        try:
            dataset = datasets(source.stream.dataset)
        except Refusal:
            continue  # reported when the stream's fields are checked
        if dataset is None or source.stream.timestamp not in dataset.firsts_ns:
            continue
        first_ns = dataset.firsts_ns[source.stream.timestamp]
        after_ns, speed = first_ns - zero_ns, source.rate.speed
        if after_ns * 1_000_000 >= horizon_ns * scaled(speed, 1_000_000):
            message = (
                f"rate is 'recorded', but data set '{source.stream.dataset}' begins at {calendar_text(first_ns)}, {after_ns / 1e9:,.15g} s "
                f"after the zero of event time ({calendar_text(zero_ns)}, the earliest first record of all data sets), so at speed "
                f"{speed:g} no record of '{id}' comes before horizon_s ({horizon_s:g}); choose a horizon above "
                f"{after_ns / speed / 1e9:,.15g} s, a higher speed, or another rate"
            )
            yield Problem(pointer("workload", "sources", id, "rate", "kind"), "no_records", message, source.rate.kind)


def _times(draft: Draft, budgets: Budgets) -> Iterator[Problem]:
    if draft.workload is None:
        return
    horizon_s = draft.workload.horizon_s
    if draft.measurement is not None:
        end_s = horizon_s + (draft.workload.drain_limit_s if draft.workload.drain else 0)
        frames = end_s * 1000 / draft.measurement.frame_ms
        if frames > budgets.frames_max:
            message = (
                f"frame_ms is {draft.measurement.frame_ms:g}, which gives {frames:,.0f} frames, "
                f"{frames - budgets.frames_max:,.0f} above the budget; it must be at least {end_s * 1000 / budgets.frames_max:.6g}"
            )
            yield Problem(pointer("measurement", "frame_ms"), "budget", message, draft.measurement.frame_ms)
    yield from _scaling(draft, budgets)
    for id, spec in draft.by_id.items():
        yield from _drift(draft, id, spec, budgets)
    for id, source in draft.sources.items():
        yield from _switched_delays(source.disorder, draft.workload, ("workload", "sources", id, "disorder"))
        if source.retention.kind == "time" and horizon_s / source.retention.check_s > budgets.checks_max:
            message = (
                f"check_s is {source.retention.check_s:g}, which gives {horizon_s / source.retention.check_s:,.0f} checks of the log, "
                f"more than {budgets.checks_max:,}; it must be at least {horizon_s / budgets.checks_max:.6g}"
            )
            yield Problem(pointer("workload", "sources", id, "retention", "check_s"), "budget", message, source.retention.check_s)
        operator = draft.laid_out.get(id)
        if operator is None or source.watermarks.kind == "none":
            continue
        period_ms = source.watermarks.period_ms
        ticks = horizon_s * 1000 / period_ms * operator.parallelism * draft.copies.get(id, 1)
        if ticks > budgets.watermarks_max:
            message = (
                f"period_ms is {period_ms:g}, which gives {ticks:,.0f} watermarks, {ticks - budgets.watermarks_max:,.0f} above the budget; "
                f"it must be at least {period_ms * ticks / budgets.watermarks_max:.6g}"
            )
            yield Problem(pointer("workload", "sources", id, "watermarks", "period_ms"), "budget", message, period_ms)
    yield from _markers(draft, horizon_s, budgets)


def _markers(draft: Draft, horizon_s: float, budgets: Budgets) -> Iterator[Problem]:
    measurement = draft.measurement
    if measurement is None or measurement.marker_ns is None:
        return
    laid_out = {id: operator for id, operator in draft.laid_out.items() if id in draft.sources}
    logs = sum((draft.sources[id].partitions or of.parallelism) * draft.copies.get(id, 1) for id, of in laid_out.items())
    markers = horizon_s * 1e9 / measurement.marker_ns * logs
    if markers > budgets.watermarks_max:
        period_ms = measurement.marker_ns / 1e6
        message = (
            f"marker_ms is {period_ms:g}, which gives {markers:,.0f} latency markers, {markers - budgets.watermarks_max:,.0f} above the "
            f"budget; it must be at least {period_ms * markers / budgets.watermarks_max:.6g}"
        )
        yield Problem(pointer("measurement", "marker_ms"), "budget", message, period_ms)


def _switched_delays(law: Delay, workload: Workload, at: tuple[str, ...]) -> Iterator[Problem]:
    if not isinstance(law, SwitchedDelay):
        return
    if seconds_ns(law.at_s) >= workload.horizon_ns:
        message = f"at_s is {law.at_s:g}, but the horizon is {workload.horizon_s:g} s, so no delay would change; lower it"
        yield Problem(pointer(*at, "at_s"), "outside_run", message, law.at_s)
    yield from _switched_delays(law.before, workload, (*at, "before"))
    yield from _switched_delays(law.after, workload, (*at, "after"))


def _scaling(draft: Draft, budgets: Budgets) -> Iterator[Problem]:
    """Check the work of a policy. There are at most as many iterations as scrapes."""
    assert draft.workload is not None
    horizon_s, scaling = draft.workload.horizon_s, draft.scaling
    if isinstance(scaling, Looped) and horizon_s / scaling.metrics.scrape_s > budgets.scrapes_max:
        scrape_s = scaling.metrics.scrape_s
        message = (
            f"scrape_s is {scrape_s:g}, which gives {horizon_s / scrape_s:,.0f} scrapes, more than {budgets.scrapes_max:,}; it must be at "
            f"least {horizon_s / budgets.scrapes_max:.6g}"
        )
        yield Problem(pointer("policies", "scaling", "metrics", "scrape_s"), "budget", message, scrape_s)
    if isinstance(scaling, Scaling) and scaling.plans_by_minute and horizon_s / 60 > budgets.oracle_minutes_max:
        message = (
            f"horizon_s is {horizon_s:g}, {horizon_s / 60:,.0f} minutes, but the oracle plans at most {budgets.oracle_minutes_max:,}; it "
            f"must be at most {budgets.oracle_minutes_max * 60}, or choose another scaling"
        )
        yield Problem(pointer("workload", "horizon_s"), "budget", message, horizon_s)


def _drift(draft: Draft, id: str, spec: OperatorSpec, budgets: Budgets) -> Iterator[Problem]:
    assert draft.workload is not None
    if spec.cost is None or not spec.cost.drift.step_ns:
        return
    end_s = draft.workload.horizon_s + (draft.workload.drain_limit_s if draft.workload.drain else 0)
    field = spec.cost.drift.step_field
    step_s = getattr(spec.cost.drift, field)
    if end_s / step_s > budgets.drift_steps_max:
        message = (
            f"{field} is {step_s:g}, which gives {end_s / step_s:,.0f} factors until the end at {end_s:g} s, more than "
            f"{budgets.drift_steps_max:,}; it must be at least {end_s / budgets.drift_steps_max:.6g}"
        )
        yield Problem(f"{at_operator(draft, id)}/cost/drift/{field}", "budget", message, step_s)


def _faults(draft: Draft) -> Iterator[Problem]:
    names = [host.name for host in draft.hosts or ()]
    for position, fault in draft.faults.items():
        if not isinstance(fault, HostFault):
            continue
        if names and fault.host not in names:
            message = f"host is '{fault.host}', which the cluster does not have; name one of its hosts"
            yield Problem(pointer("faults", position, "host"), "unknown_host", message, fault.host, suggestion(fault.host, names))
        at_s, field = fault.when.begins_s, fault.when.begins_field
        if draft.workload is not None and at_s is not None and seconds_ns(at_s) >= draft.workload.horizon_ns:
            message = f"{field} is {at_s:g}, but the horizon is {draft.workload.horizon_s:g} s; choose an earlier time or a longer run"
            yield Problem(pointer("faults", position, "when", field), "outside_run", message, at_s)
