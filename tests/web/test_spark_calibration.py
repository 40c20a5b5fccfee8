"""`manage.py calibrate` and `manage.py predict`. Catches: prices that are not those of what was measured; a machine that others keep busy;
a comparison with another machine that does not say so; errors that are no sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from engine.export.calibration import Calibration, read
from engine.spec.rules.validation import Context, load
from workers.spark import calibrating, predicting
from workers.spark.calibrating import FEW, MANY, MANY_WITH_STATE, PARTITIONS, WITH_STATE, Measured, counted_with, derived, queries
from workers.spark.session import SESSION

from ..support.agreement import template
from ..support.calibrated import MACHINE


def measured(work_ms: float, records: int, planning_ms: float = 100) -> Measured:
    return Measured(planning_ms=planning_ms, work_ms=work_ms, commit_ms=40, spread=0.1, records=records)


def as_if(stage_ms: float, state_ms: float, write_ms: float, us: dict[str, float], cores: int) -> dict[str, Measured]:
    """What a Spark of these overheads and prices would measure. state_ms: a commit of a partition; joins commit three."""
    found = {}
    for name, records, kinds in (
        ("reading, few", FEW, ["source"]),
        ("reading", MANY, ["source"]),
        ("mapping", MANY, ["source", "map", "filter"]),
        ("writing", MANY, ["source", "sink"]),
    ):
        found[name] = measured(write_ms + stage_ms + records * sum(us[kind] for kind in kinds) / 1000, records)
    at_once = min(cores, PARTITIONS)

    def with_state(records: int, each_us: float, partitions: int = PARTITIONS, commits: int = 1) -> Measured:
        rounds = -(-partitions // cores)
        return measured(write_ms + 2 * stage_ms + rounds * commits * state_ms + records * each_us / 1000, records)

    count_us = us["source"] + us["aggregate"]
    found |= {f"counting, few, {n} partitions": with_state(FEW, count_us, n) for n in counted_with(cores)}
    found["counting"] = with_state(MANY, count_us)
    found["grouping"] = with_state(MANY_WITH_STATE, count_us + us["group"] / at_once)
    for name in WITH_STATE:
        each_us = us["source"] + us[name] / at_once
        found[name], found[f"{name}, few"] = with_state(MANY_WITH_STATE, each_us, commits=3), with_state(FEW, each_us, commits=3)
    return found


@pytest.mark.parametrize("cores", [2, 4, 16])
def test_prices_are_those_of_what_was_measured(cores: int) -> None:
    us = {"source": 0.4, "map": 0.2, "filter": 0.2, "sink": 0.7, "aggregate": 0.3, "group": 8.0}
    us |= dict.fromkeys(WITH_STATE, 20.0)
    overheads, prices = derived(as_if(30, 25, 120, us, cores), cores)
    assert overheads == pytest.approx({"plan_ms": 100, "stage_ms": 30, "task_ms": 0, "commit_ms": 160}, abs=1.1)
    assert {kind: prices[kind]["record_us"] for kind in ("source", "map", "sink", "aggregate")} == pytest.approx(
        {"source": 0.4, "map": 0.2, "sink": 0.7, "aggregate": 0.3}, abs=0.01
    )
    assert prices["aggregate"]["output_us"] == pytest.approx(8, rel=0.1)
    assert prices["aggregate"]["control_us"] == pytest.approx(25_000, rel=0.02)
    for name in WITH_STATE:
        assert prices[name]["record_us"] == pytest.approx(20, rel=0.02)
        assert prices[name]["control_us"] == pytest.approx(75_000, rel=0.05)


def test_noise_makes_no_negative_price() -> None:
    """As if many records took less time than few."""
    found = {name: measured(200 - one.records / 10_000, int(one.records)) for name, one in as_if(1, 1, 1, dict.fromkeys(
        ("source", "map", "filter", "sink", "aggregate", "group", *WITH_STATE), 1.0), 2).items()}  # fmt: skip
    overheads, prices = derived(found, 2)
    assert min(overheads.values()) >= 0
    assert min(value for price in prices.values() for value in price.values()) >= 0


def test_all_queries_are_valid_and_have_a_price() -> None:
    for query, _ in queries(2).values():
        load(query, Context())
    assert set(derived({name: measured(100, FEW if "few" in name else MANY) for name in queries(2)}, 2)[1]) == set(MACHINE.prices_us)


def test_the_work_of_others_is_told_from_ones_own() -> None:
    """Two processes that compute: a child of this one, and one that is none."""
    spin = "import sys\nwhile True: pass"
    before = calibrating.busy_time()
    own = subprocess.Popen([sys.executable, "-c", spin])
    try:
        at = before
        while calibrating._ticks_of(own.pid) < 20:  # a fifth of a second of a core
            at = calibrating.busy_time()
    finally:
        own.kill()
        own.wait()
    assert at[2] - before[2] >= 0.1, "the child's time is one's own"
    assert calibrating._ticks_of(own.pid) == 0, "it has ended"


def commanded(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    try:
        call_command(*arguments)
    except SystemExit as ended:
        told = capsys.readouterr()
        return int(str(ended.code)), told.err + told.out
    return 0, capsys.readouterr().out


def test_a_machine_that_others_keep_busy_is_not_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrating, "busy_share", lambda since: 0.42)
    monkeypatch.setattr(calibrating, "LOOK_S", 0.0)
    out = str(tmp_path / "calibration.json")
    status, told = commanded(capsys, "calibrate", "--out", out)
    assert status == 9
    assert "other processes use 42 % of this machine; stop them, or measure all the same with --busy" in told
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    status, told = commanded(capsys, "calibrate", "--out", out, "--busy", "--json")
    assert (status, Path(out).exists()) == (8, False)
    assert "Java is missing" in json.loads(told)["detail"]


@pytest.fixture
def calibration(tmp_path: Path) -> Path:
    path = tmp_path / "calibration.json"
    MACHINE.write(path)
    return path


def written(tmp_path: Path, name: str, **workload: Any) -> str:
    document = template(name, warmup_s=0, **workload)
    path = tmp_path / f"{name}.yaml"
    path.write_text(yaml.safe_dump(document))
    return str(path)


def test_a_query_is_predicted_without_spark(tmp_path: Path, calibration: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "nexmark_q3", horizon_s=0.5)
    status, told = commanded(capsys, "predict", file, "--calibration", str(calibration), "--only-predict", "--json")
    assert status == 0
    found = json.loads(told)
    assert found["batches"] > 5
    # planning of two sources, two stages, a commit of two joins on each of two cores, and the commit
    assert 2 * 100 + 2 * 20 + 2 * 10 + 80 < found["batch_ms"] < 1.5 * (2 * 100 + 2 * 20 + 2 * 10 + 80)


def test_what_cannot_be_predicted_is_said(tmp_path: Path, calibration: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file, more, status, words in (
        (written(tmp_path, "nexmark_q3_ttl", horizon_s=0.5), (), 2, "expiring_join"),
        (written(tmp_path, "nexmark_q1", horizon_s=0.001), (), 2, "at least 1,000 are needed"),
        (written(tmp_path, "nexmark_q3", horizon_s=0.5), ("--calibration", str(tmp_path / "none.json")), 6, "manage.py calibrate"),
        (str(tmp_path / "nowhere.yaml"), (), 6, "nowhere.yaml"),
    ):
        given = more or ("--calibration", str(calibration))
        found, told = commanded(capsys, "predict", file, "--only-predict", *given)
        assert (found, words in told) == (status, True), told


@pytest.mark.spark
@pytest.mark.slow
def test_a_query_is_measured_and_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With few micro-batches: how near the two are is for benchmarks."""
    monkeypatch.setattr(SESSION, "close", lambda: None)  # other tests go on with it
    monkeypatch.setattr(calibrating, "warm_up", lambda *_: None)
    monkeypatch.setattr(calibrating, "BATCHES", 4)
    monkeypatch.setattr(calibrating, "FIRST", 1)
    monkeypatch.setattr(predicting, "BATCHES", 4)
    monkeypatch.setattr(predicting, "FIRST", 1)
    monkeypatch.setattr(calibrating, "queries", lambda cores: {"reading, few": (calibrating.reading(50), 2)})
    monkeypatch.setattr(calibrating, "derived", lambda found, cores: (MACHINE.overheads_ms, MACHINE.prices_us))
    out = tmp_path / "calibration.json"
    assert commanded(capsys, "calibrate", "--busy", "--out", str(out))[0] == 0
    made = read(out)
    assert made.measured["reading, few"]["work_ms"] > 0
    assert (made.cores, made.overheads_ms) == (os.cpu_count(), MACHINE.overheads_ms)
    file = written(tmp_path, "nexmark_q3", horizon_s=0.2)
    Calibration(**{**vars(made), "machine": "an older one"}).write(out)
    status, told = commanded(capsys, "predict", file, "--calibration", str(out), "--json")
    assert status == 0, told
    found = json.loads(told)
    assert found["measured"]["batch_ms"] > 0
    assert found["ratios"]["batch_ms"] == pytest.approx(found["predicted"]["batch_ms"] / found["measured"]["batch_ms"], abs=0.01)
    assert f"the calibration is of another machine: an older one; this one is {calibrating.machine()}" in found["said"]
