"""Differences between two documents, in words: by the labels of the forms, with operators and hosts by name.

Both documents are first filled in with the defaults of their models, so a default that only one of them spells out is no difference. Parts
that are invalid, as in a document that is still being drawn, are compared as they are written.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from ..base.operator import Model
from ..base.operator_kinds import operators
from ..base.parameters import names_of
from ..base.problems import pointer
from ..base.structure import bare, members_of
from ..base.words import label_of, model_in_words, unit_of, value_in_words
from .experiment import NOT_IN_HASH, Experiment
from .query import OperatorSpec, Query
from .registry import load_packages

Path = tuple[str | int, ...]

UNNAMED = ("policies", "query", "params")
"""Fields whose own labels say nothing: what lies below them is named without them."""

READ_BY_PART = (Experiment, Query, OperatorSpec)
"""Models that are read part by part, so that one invalid part does not hide the defaults of the others."""


@dataclass(frozen=True)
class Difference:
    """One difference.

    path: JSON pointer into the later document with its defaults (`filled`), or into the earlier one if the value is no longer there.
    where: name of the operator, the host or the section; empty if the label says it. label: label of the field. before, after: the plain
    values, None if there is none. text: the whole difference in one sentence.
    """

    path: str
    where: str
    label: str
    before: Any
    after: Any
    text: str


@dataclass(frozen=True)
class _Place:
    """Where a value lies, in both documents (positions in lists may differ), and the labels above it."""

    before: Path = ()
    after: Path = ()
    where: str = ""
    labels: tuple[str, ...] = ()
    unit: str = ""

    def field(self, name: str, info: FieldInfo | None = None) -> _Place:
        label = label_of(name, info)
        below = replace(self, before=(*self.before, name), after=(*self.after, name), unit=unit_of(name, info))
        return below if name in UNNAMED or label in self.labels[-1:] else replace(below, labels=(*self.labels, label))

    def entry(self, before: str | int, after: str | int, where: str = "") -> _Place:
        below = replace(self, before=(*self.before, before), after=(*self.after, after))
        return replace(below, where=where, labels=()) if where else below

    def changed(self, before: Any, after: Any, change: str) -> Difference:
        """change: what follows the label."""
        where, labels = self.where, self.labels
        if not where and len(labels) > 1:
            where, labels = labels[0], labels[1:]
        label = ", ".join(labels)
        text = f"{where}: {label} {change}" if where and label else f"{where or label}: {change}"
        return Difference(pointer(*self.after), where, label, before, after, text)

    def added(self, value: Any, phrase: str) -> Difference:
        return self._only("added", self.after, None, value, phrase)

    def removed(self, value: Any, phrase: str) -> Difference:
        return self._only("removed", self.before, value, None, phrase)

    def _only(self, what: str, path: Path, before: Any, after: Any, phrase: str) -> Difference:
        label = self.labels[-1].removesuffix("s") if self.labels else "Entry"
        where = self.where or ", ".join(self.labels[:-1] if len(self.labels) > 1 and self.labels[0] != "Cluster" else ())
        text = f"{where}: {label.lower()} {what}: {phrase}" if where else f"{label} {what}: {phrase}"
        return Difference(pointer(*path), where, label, before, after, text)


def differences(before: Mapping[str, Any], after: Mapping[str, Any], *, hashed_only: bool = False) -> list[Difference]:
    """The differences between two documents of experiments, in the order of the fields.

    hashed_only: leave out what changes no run: names, descriptions and the state of the canvas.
    """
    load_packages()
    found = list(_of(Experiment, filled(Experiment, before), filled(Experiment, after), _Place()))
    if hashed_only:
        found = [one for one in found if not _changes_no_run(one.path)]
    return _with_load(found, after)


def filled(annotation: Any, value: Any) -> Any:
    """The value with the defaults of its model, as plain data. Invalid parts stay as they are, beside the defaults of the others."""
    if isinstance(value, BaseModel):
        return filled(type(value), value.model_dump(mode="json", by_alias=True))
    if isinstance(value, list | tuple):
        kind = next(iter(get_args(bare(annotation))), None)
        return [filled(kind, one) for one in value]
    if not isinstance(value, Mapping):
        return int(value) if isinstance(value, float) and value.is_integer() else value
    model = _model(annotation, value)
    if model is None:
        arguments = get_args(bare(annotation))
        return {name: filled(arguments[1] if len(arguments) == 2 else None, below) for name, below in value.items()}
    if model not in READ_BY_PART:
        read = _read(model, value)
        value = value if read is None else read.model_dump(mode="json", by_alias=True)
    told: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        alias = info.alias or name
        if alias in value or name in value:
            told[alias] = filled(info.annotation, value[alias] if alias in value else value[name])
        elif not info.is_required():
            told[alias] = filled(info.annotation, info.get_default(call_default_factory=True))
    told |= {name: filled(None, below) for name, below in value.items() if name not in told and name not in model.model_fields}
    if model is OperatorSpec and (kind := operators().get(str(told.get("kind")))) is not None:
        told["params"] = filled(kind.Params, told.get("params"))
    return told


def _of(annotation: Any, before: Any, after: Any, place: _Place) -> Iterator[Difference]:
    """Differences between two filled values of a field."""
    if _same(before, after):
        return
    if before is None or after is None:  # a part that a draft still lacks is as good as empty
        before, after = _empty(annotation, before, after), _empty(annotation, after, before)
    if place.after == ("ui",):
        yield place.changed(before, after, "layout changed")
    elif isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _of_mappings(annotation, before, after, place)
    elif _is_list_of_objects(before) and _is_list_of_objects(after):
        yield from _of_lists(annotation, before, after, place)
    else:
        told = [_in_words(annotation, value, place.unit) for value in (before, after)]
        yield place.changed(before, after, f"{told[0]} → {told[1]}")


def _of_mappings(annotation: Any, before: Mapping[str, Any], after: Mapping[str, Any], place: _Place) -> Iterator[Difference]:
    model, former = _model(annotation, after), _model(annotation, before)
    if model is None and former is None and "kind" not in before and "kind" not in after:
        yield from _of_named_values(annotation, before, after, place)
        return
    if model is OperatorSpec and before.get("kind") != after.get("kind"):
        titles = [getattr(operators().get(str(one.get("kind"))), "title", str(one.get("kind"))) for one in (before, after)]
        yield place.field("kind").changed(before.get("kind"), after.get("kind"), f"{titles[0]} → {titles[1]}")
        before = {**before, "kind": after.get("kind"), "params": after.get("params")}  # the parameters of another kind are not comparable
    if place.labels and (change := _change_in_words(former, before, model, after)):
        yield place.changed(before, after, change)
        return
    if model is not former or model is None:
        told = [_in_words(annotation, value, place.unit) for value in (before, after)]
        yield place.changed(before, after, f"{told[0]} → {told[1]}")
        return
    infos = {info.alias or name: info for name, info in model.model_fields.items()}
    params = operators().get(str(after.get("kind"))) if model is OperatorSpec else None
    for name in dict.fromkeys((*infos, *before, *after)):
        found: Any = infos[name].annotation if name in infos else None
        if name == "params" and params is not None:
            found = params.Params
        yield from _of(found, before.get(name), after.get(name), place.field(name, infos.get(name)))


def _change_in_words(former: type[Model] | None, before: Any, model: type[Model] | None, after: Any) -> str:
    """The change as the kind of value tells it itself, or ''."""
    if former is None or model is None or model in READ_BY_PART:
        return ""
    earlier, later = _read(former, before), _read(model, after)
    if earlier is None or later is None:
        return ""
    if change := later.change_in_words(earlier):
        return change
    if change := earlier.change_in_words(later):
        return f"no longer {change}"
    phrases = (earlier.in_words, later.in_words)
    return " → ".join(phrases) if all(phrases) and phrases[0] != phrases[1] else ""


def _of_named_values(annotation: Any, before: Mapping[str, Any], after: Mapping[str, Any], place: _Place) -> Iterator[Difference]:
    """Differences of a mapping whose keys are names, such as the sources by operator."""
    arguments = get_args(bare(annotation))
    kind = arguments[1] if len(arguments) == 2 else None
    labels = place.labels if len(place.labels) < 2 or place.where else place.labels[1:]
    for name in dict.fromkeys((*before, *after)):
        here = place.entry(name, name, name)
        if isinstance(before.get(name), Mapping) or isinstance(after.get(name), Mapping):
            is_source = place.after == ("workload", "sources")
            if name not in before or name not in after:
                value = after[name] if name in after else before[name]
                phrase = name if is_source else f"{name} ({_in_words(kind, value)})"
                entry = place.entry(name, name)
                yield entry.added(value, phrase) if name in after else entry.removed(value, phrase)
            else:
                yield from _of(kind, before[name], after[name], here if is_source else replace(here, labels=labels))
        else:
            yield from _of(kind, before.get(name), after.get(name), replace(here, labels=labels))


def _of_lists(annotation: Any, before: Sequence[Any], after: Sequence[Any], place: _Place) -> Iterator[Difference]:
    """Differences of a list of objects. Entries with a name are compared by name; the others are the same entry if they are equal, and
    otherwise if they stand in the same order and have the same kind."""
    kind = next(iter(get_args(bare(annotation))), None)
    pairs = _pairs(before, after)
    paired_before, paired_after = {one for one, _, _ in pairs}, {two for _, two, _ in pairs}
    for one, value in enumerate(before):
        if one not in paired_before:
            yield place.entry(one, one).removed(value, _in_words(kind, value))
    for one, two, name in sorted(pairs, key=lambda pair: pair[1]):
        yield from _of(kind, before[one], after[two], place.entry(one, two, name and _title(after[two], name)))
    for two, value in enumerate(after):
        if two not in paired_after:
            yield place.entry(two, two).added(value, _in_words(kind, value))
    yield from _moves(kind, after, pairs, place)


def _pairs(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[int, int, str]]:
    """Positions of the same entry in both lists, with its name or ''."""
    names = [[name if isinstance(name, str) else "" for name in names_of(list(side))] for side in (before, after)]
    pairs = [(one, names[1].index(name), name) for one, name in enumerate(names[0]) if name and name in names[1]]
    left = [[n for n, name in enumerate(side) if not name] for side in names]
    keys = [[json.dumps(side[n], sort_keys=True) for n in rest] for side, rest in zip((before, after), left, strict=True)]
    places: dict[str, list[int]] = {}
    for n, key in zip(left[1], keys[1], strict=True):
        places.setdefault(key, []).append(n)
    for n, key in zip(list(left[0]), keys[0], strict=True):
        if same := places.get(key):
            pairs.append((n, same.pop(0), ""))
    taken = [{pair[side] for pair in pairs} for side in (0, 1)]
    rest = [[n for n in side if n not in gone] for side, gone in zip(left, taken, strict=True)]
    for one in rest[0]:
        two = next((n for n in rest[1] if before[one].get("kind") == after[n].get("kind")), None)
        if two is not None:
            rest[1].remove(two)
            pairs.append((one, two, ""))
    return pairs


def _moves(kind: Any, after: Sequence[Any], pairs: Sequence[tuple[int, int, str]], place: _Place) -> Iterator[Difference]:
    """Entries that stand elsewhere among the entries of both lists. Order numbers instances and channels, so it is a difference."""
    order = [two for _, two, _ in sorted(pairs)]
    matcher = difflib.SequenceMatcher(None, order, sorted(order), autojunk=False)
    kept = {order[n] for block in matcher.get_matching_blocks() for n in range(block.a, block.a + block.size)}
    for one, two, name in sorted(pairs):
        if two not in kept:
            here = place.entry(one, two)
            phrase = _title(after[two], name) if name else _in_words(kind, after[two])
            moved = replace(here.added(after[two], phrase), before=after[two])
            yield replace(moved, text=f"{moved.label} moved from place {one + 1} to {two + 1}: {phrase}")


def _with_load(found: Sequence[Difference], after: Mapping[str, Any]) -> list[Difference]:
    """The differences, with a change of the rates of all sources by the same factor as one change of the load."""
    workload = after.get("workload")
    sources = workload.get("sources") if isinstance(workload, Mapping) else None
    wanted = {pointer("workload", "sources", id, "rate") for id in sources} if isinstance(sources, Mapping) else set()
    of_rates = [one for one in found if one.path in wanted]
    changes = {one.text.removeprefix(f"{one.where}: {one.label} ") for one in of_rates}
    if not wanted or len(of_rates) < len(wanted) or len(changes) > 1:
        return list(found)
    change = changes.pop()
    if not change.removeprefix("no longer ").startswith("×"):
        return list(found)
    values = [{one.where: getattr(one, side) for one in of_rates} for side in ("before", "after")]
    load = Difference("/workload/sources", "", "Load", values[0], values[1], f"Load {change}")
    at = found.index(of_rates[0])
    return [*(one for one in found[:at] if one not in of_rates), load, *(one for one in found[at:] if one not in of_rates)]


def _changes_no_run(path: str) -> bool:
    parts = path.split("/")[1:]
    return parts[0] in NOT_IN_HASH or (parts[:2] == ["query", "operators"] and parts[3:] == ["name"])


def _model(annotation: Any, value: Any) -> type[Model] | None:
    """The model that reads this value of a field, or None."""
    found = bare(annotation)
    if members := members_of(found):
        found = members.get(value.get("kind")) if isinstance(value.get("kind"), str) else None
    return found if isinstance(found, type) and issubclass(found, Model) else None


def _read(model: type[Model], value: Any) -> Model | None:
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def _in_words(annotation: Any, value: Any, unit: str = "") -> str:
    """The value of a field as a phrase."""
    if isinstance(value, Mapping):
        model = _model(annotation, value)
        read = None if model is None else _read(model, value)
        if read is not None:
            return model_in_words(read)
    if isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        kind = next(iter(get_args(bare(annotation))), None)
        return "; ".join(_in_words(kind, one) for one in value)
    return value_in_words(value, unit)


def _empty(annotation: Any, value: Any, other: Any) -> Any:
    """An empty value in place of a missing one, if the field must have one and its entries are told one by one."""
    if value is None and isinstance(other, Mapping) and annotation in READ_BY_PART:
        return {}
    return [] if value is None and _is_list_of_objects(other) and get_origin(annotation) is tuple else value


def _same(before: Any, after: Any) -> bool:
    return json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)


def _title(entry: Mapping[str, Any], name: str) -> str:
    """The name of an entry in a sentence: of an edge or a link, its ends."""
    return f"{entry['source']} → {entry['target']}" if "source" in entry and "target" in entry else name
