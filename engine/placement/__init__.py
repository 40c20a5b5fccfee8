"""Placement strategies: which instance stands on which host. A new one is a leaf file and a line here.

Other packages add strategies of their own with `register`, or by an entry point of the group `millrace.placements` that names the class:
then every process that reads documents knows them.
"""

import re
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any

from engine.spec.experiment import registry
from engine.spec.experiment.cluster import ExpandedHost, Placement
from engine.spec.experiment.query import OperatorSpec

from . import by_operator, explicit, spread

Place = Callable[[Any, Sequence[OperatorSpec], Sequence[ExpandedHost]], dict[str, list[int]]]

STRATEGIES: dict[str, Place] = {"spread": spread.place, "by_operator": by_operator.place, "explicit": explicit.place}
"""By kind. Each takes the document's placement, the operators and the hosts, and gives host indices by operator id, one per instance.

Raises `Refusal` (path below the placement) when the hosts do not suffice or are unknown.
"""

ENTRY_POINTS = "millrace.placements"


def register(strategy: type[Placement]) -> type[Placement]:
    """Add a strategy from outside the package: documents, forms and the API then know it. Raises ValueError with what is wrong."""
    if not (isinstance(strategy, type) and issubclass(strategy, Placement)):
        raise ValueError(f"{strategy!r} is no class below engine.spec.experiment.cluster.Placement")
    name = f"{strategy.__module__}.{strategy.__qualname__}"
    kind = registry.kind_of(strategy) if "kind" in strategy.model_fields else ""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", kind):
        raise ValueError(
            f'the kind of {name} is {kind!r}; give it a field `kind: Literal["..."] = "..."` of lower-case letters, digits and \'_\', '
            "a letter first, at most 63"
        )
    if STRATEGIES.get(kind, strategy.place) is not strategy.place:
        raise ValueError(f"the kind of {name} is '{kind}', which another strategy has already; choose another")
    if not getattr(strategy, "title", "") or not strategy.__doc__:
        raise ValueError(f"{name} needs a title and a docstring; both are shown to people")
    if strategy.place is Placement.place:
        raise ValueError(f"{name} has no method `place`; it says which instance stands on which host")
    if kind not in STRATEGIES:
        registry.offer_placements((*registry.FAMILIES["placements"], strategy))
    STRATEGIES[kind] = strategy.place
    return strategy


for _point in entry_points(group=ENTRY_POINTS):
    register(_point.load())
