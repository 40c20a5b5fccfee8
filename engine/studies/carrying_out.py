"""Carries a study out in this process, one run after the other: what all other executors must agree with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import engine
from engine.spec.study import Study
from engine.spec.validation import Context, load

from .measured import Measured
from .plan import Answer, Trial, plan


def carry_out(
    study: Study,
    *,
    context: Context | None = None,
    known: dict[str, Measured] | None = None,
    told: Callable[[Trial, Measured], Any] | None = None,
) -> Answer:
    """The study's answer. known: results that there are already, by `Trial.key`; new ones are added. told: is called with each.

    Raises InvalidExperiment for a point whose experiment cannot be run.
    """
    results = {} if known is None else known
    while (now := plan(study, results)).answer is None:
        for trial in now.wanted:
            run = engine.run(load(trial.document, context))
            results[trial.key] = Measured.of(study, run.summary, run.frames)
            if told is not None:
                told(trial, results[trial.key])
    return now.answer
