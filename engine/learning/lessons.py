"""What models learn from: one corpus or several, whole or in part, from the beginning or from a model that is there (specification 3.8,
5.3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from engine.corpus import corpora
from engine.corpus.rows import Row
from engine.costmodels.splits import Split, split
from engine.spec.figure.evaluations import OfHosts

SPLIT_SEED = 1


class Parts(NamedTuple):
    """Rows by what they are for."""

    training: list[Row]
    validation: list[Row]
    test: list[Row]


def parts_of(rows: Sequence[Row]) -> Parts:
    """All rows of one query are in one part."""
    found: Split = split([row.trace.group for row in rows], SPLIT_SEED)
    return Parts(*([rows[n] for n in numbers] for numbers in (found.training, found.validation, found.test)))


@dataclass(frozen=True)
class Lesson:
    """corpora: their directories. hosts: only traces all of whose hosts have these features. per_corpus: of each corpus only the first
    so many traces, None for all. training_traces: of these, for training only the first so many. shuffled: labels of training and
    validation are in a random order, as a control. counted: selectivities are those that were counted in runs. initial: directory of the
    models that are trained further."""

    corpora: tuple[Path, ...]
    hosts: OfHosts = field(default_factory=OfHosts)
    per_corpus: int | None = None
    training_traces: int | None = None
    shuffled: bool = False
    counted: bool = False
    initial: Path | None = None

    def parts(self) -> Parts:
        """Raises CorpusError."""
        rows = [row for corpus in self.corpora for row in list(corpora.rows(corpus))[: self.per_corpus]]
        return self.restricted(parts_of(rows))

    def restricted(self, parts: Parts) -> Parts:
        """Parts of all rows without those that are left out."""
        training, validation, test = ([self.seen(row) for row in part if self._has(row)] for part in parts)
        return Parts(training[: self.training_traces], validation, test)

    def _has(self, row: Row) -> bool:
        return all(map(self.hosts.allows, row.trace.hosts))

    def seen(self, row: Row) -> Row:
        """With the selectivities that models are given."""
        return replace(row, selectivities=row.measured_selectivities) if self.counted else row

    def facts(self) -> dict[str, Any]:
        """What a model keeps of it. Raises CorpusError."""
        known = [{"corpus": of.name, "digest": corpora.digest(of), **asdict(corpora.opened(of))} for of in self.corpora]
        whole = replace(self, corpora=(), initial=None) == Lesson(())
        found: dict[str, Any] = known[0] if len(known) == 1 else {"corpora": known}
        if not whole:
            found["left"] = {
                "hosts": self.hosts.model_dump(exclude_defaults=True),
                "per_corpus": self.per_corpus,
                "training_traces": self.training_traces,
                "shuffled": self.shuffled,
            }
            if self.counted:
                found["left"]["counted"] = True
        if self.initial is not None:
            found["initial"] = self.initial.name
        return found

    def identity(self, *more: Any) -> str:
        """Of what models of this lesson are, whatever the corpora are called. more: settings of training."""
        facts = self.facts()
        for of in facts.get("corpora", [facts]):
            del of["corpus"]
        return hashlib.sha256(json.dumps([facts, *more], sort_keys=True, default=str).encode()).hexdigest()[:16]
