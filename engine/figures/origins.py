"""Whether a figure rests on costs that were fitted to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from pydantic import ValidationError

from engine.prices import PRICE_LISTS
from engine.spec.base import origins
from engine.spec.base.problems import Refusal
from engine.spec.experiment.experiment import Experiment
from engine.spec.figure.figure import Figure
from engine.spec.study.study import Study


def is_fitted(figure: Figure, studies: Iterable[Study]) -> bool:
    """Return whether some run of its studies is charged a cost that was fitted to this figure."""
    itself = {figure.id, figure.id.partition("/")[0]}  # a cost may be fitted to all figures of a paper
    return any(itself & fitted_to(experiment) for study in studies for experiment in experiments_of(study))


def experiments_of(study: Study) -> Iterator[Experiment]:
    """Yield the experiment of each point of a study, before and after the changes at shares of a load. Points without a valid one, of which
    there is no run either, are left out."""
    for values in study.points():
        for at_share in (False, True):
            with suppress(Refusal, ValidationError):
                yield Experiment.model_validate(study.document(values, study.seeds[0], at_share))


def fitted_to(experiment: Experiment) -> set[str]:
    """Return what the costs of an experiment were fitted to: prices of its operators, and what its policies and its cluster charge."""
    found = set(origins.fitted_to(experiment))
    if prices := PRICE_LISTS.get(experiment.price_list):
        charged = [prices.prices[operator.kind] for operator in experiment.query.operators if operator.kind in prices.prices]
        found |= {to for price in charged for to in price.fitted_to} | set(prices.values.fitted_to)
    return found
