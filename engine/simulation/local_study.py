"""Executes a study in this process, one run after the other: the reference for all other executors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import engine
from engine.spec.rules.validation import Context, load
from engine.spec.study.study import Study, Values
from engine.studies import Answer, Measured, Trial, TrialId, plan


def run_study(
    study: Study,
    *,
    context: Context | None = None,
    known: dict[str, Measured] | None = None,
    told: Callable[[Trial, Measured], Any] | None = None,
) -> Answer:
    """Run the study and return its answer. known: existing results by `Trial.key`; new ones are added. told: called with each new one.

    Raises InvalidExperiment for a point whose experiment cannot be run.
    """
    known = {} if known is None else known
    results: dict[TrialId, Measured] = {}
    chosen: dict[int, Values] = {}
    while (now := plan(study, results, list(chosen.values()))).answer is None:
        for trial in now.wanted:
            chosen[trial.strand.point] = trial.strand.values
            if trial.key not in known:
                known[trial.key] = _measured(trial, context)
                if told is not None:
                    told(trial, known[trial.key])
            results[trial.id] = known[trial.key]
    return now.answer


def _measured(trial: Trial, context: Context | None) -> Measured:
    run = engine.run(load(trial.document, context))
    return Measured.of(trial.strand.study, run.summary, lambda: run.frames)
