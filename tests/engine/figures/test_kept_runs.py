"""Runs that are kept for a command that was stopped, and how long the others will take.

What this catches: a run of another document, seed or version that is taken for the right one; a torn file; runs that are made twice; an
estimate that counts what figures share twice.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.figures import Here, reproduce
from engine.figures.execution import Made, packed
from engine.figures.kept import KeptRuns
from engine.figures.remaining import COARSE_RUNS, Remaining, work_of
from engine.prices import PRICE_LISTS
from engine.spec.figure.figure import study_at
from engine.spec.figure.files import FigureFiles
from engine.spec.study.study import Study, load_study
from engine.studies import Trial, plan

FILES = FigureFiles(Path(__file__).parents[3] / "fixtures")


def a_study(seeds: tuple[int, ...] = (1, 2), **more: Any) -> Study:
    return load_study({"name": "s", "experiment": FILES.experiment("nexmark_q1"), "seeds": seeds, **more})


def trials(of: Study) -> list[Trial]:
    return list(plan(of, {}).wanted)


def test_a_kept_run_is_that_run(tmp_path: Path) -> None:
    kept = KeptRuns(tmp_path)
    first, second = trials(a_study())
    made = Made({"records_out": 3, "latency_ms": {"p50": 1.5}}, packed(['{"t_s": 1}']))
    assert kept.get(first) is None
    kept.put(first, made)
    assert kept.get(first) == made
    assert kept.get(first).frames == [{"t_s": 1}]  # type: ignore[union-attr]
    assert kept.get(second) is None, "another seed"
    kept.put(second, Made(failure="out of memory"))
    assert kept.get(second) == Made(failure="out of memory")
    kept.put(first, replace(made, summary={}, records={"sink": {"a": [1]}}))
    assert kept.get(first) == made, "runs with records are not kept"
    kept.forget()
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_other_prices_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept, (trial, _) = KeptRuns(tmp_path), trials(a_study())
    kept.put(trial, Made({"records_out": 3}))
    reference = PRICE_LISTS["reference"]
    dear = {**reference.prices, "sink": replace(reference.prices["sink"], record_ps=12_000_000)}
    monkeypatch.setitem(PRICE_LISTS, "reference", replace(reference, prices=dear))
    assert kept.get(trial) is None


@pytest.mark.parametrize("spoil", [lambda b: b[:-1], lambda b: b[: len(b) // 2], lambda b: b"", lambda b: b"{}" + b, lambda b: b"zz\n"])
def test_a_torn_file_counts_as_none(tmp_path: Path, spoil: Any) -> None:
    kept, (trial, _) = KeptRuns(tmp_path), trials(a_study())
    kept.put(trial, Made({"records_out": 3}, packed(['{"t_s": 1}'])))
    (file,) = tmp_path.iterdir()
    file.write_bytes(spoil(file.read_bytes()))
    assert kept.get(trial) is None


def test_a_figure_that_was_stopped_goes_on(tmp_path: Path) -> None:
    figure, told = FILES.figure("benchmark/3.4"), list[str]()

    class Stopped(Exception):
        pass

    def stop_after_two(trial: Trial, made: Made) -> None:
        KeptRuns(tmp_path).put(trial, made)
        told.append(trial.key)
        if len(told) == 2:
            raise Stopped

    with pytest.raises(Stopped):
        reproduce(figure, "smoke", FILES.experiment, Here(told=stop_after_two))
    again = KeptRuns(tmp_path)
    later: list[str] = []
    went_on = reproduce(figure, "smoke", FILES.experiment, Here(told=lambda trial, made: later.append(trial.key), known=again.get))
    assert not set(told) & set(later)
    assert went_on.as_dict() == reproduce(figure, "smoke", FILES.experiment, Here()).as_dict()


def test_shared_runs_are_counted_once() -> None:
    figure = FILES.figure("checkmate/3.9")
    studies = [load_study(study_at(figure, name, "dev", FILES.experiment)) for name in ("q1", "q12")]
    alone = [Remaining([study]).total for study in studies]
    assert Remaining(studies).total == pytest.approx(sum(alone))
    assert Remaining([*studies, studies[0]]).total == pytest.approx(sum(alone))
    tails = load_study(study_at(FILES.figure("checkmate/3.10"), "q1", "dev", FILES.experiment))
    assert Remaining([studies[0], tails]).total == pytest.approx(alone[0])
    point = studies[0].document({**studies[0].points()[0], "rate": 184.0}, 1)
    assert alone[0] > COARSE_RUNS * work_of(point), "the middle between 20 and 1,700"


def test_what_is_left_follows_from_what_was_done() -> None:
    remaining = Remaining([a_study((1, 2, 3, 4))])
    first, second, *_ = trials(a_study((1, 2, 3, 4)))
    assert remaining.left_s(10.0) is None
    remaining.add(first)
    assert remaining.left_s(10.0) == pytest.approx(30.0)
    remaining.skip(second)
    assert remaining.left_s(10.0) == pytest.approx(20.0)
