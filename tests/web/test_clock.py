"""A clock that jumps. Catches: things removed since they seem old, and a run that two workers have executed, or none."""

from __future__ import annotations

import logging
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from django.utils import timezone

from webapp.lab.models import Experiment, RetentionRule, Run
from workers import caretaker, clock_watch
from workers.clock_watch import JUMP_S, STEADY_S, ClockWatch

from .conftest import RedisProcess, new_run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis")]


class Clock:
    """wall_s can be set, monotonic_s only goes on."""

    def __init__(self) -> None:
        self.wall_s, self.monotonic_s = 1_800_000_000.0, 100.0

    def go_on(self, seconds: float) -> None:
        self.wall_s += seconds
        self.monotonic_s += seconds

    def as_module(self) -> Any:
        return SimpleNamespace(time=lambda: self.wall_s, monotonic=lambda: self.monotonic_s)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(clock_watch, "time", found.as_module())
    return found


@pytest.mark.parametrize("jump_s", [-86_400.0 * 400, -JUMP_S - 1, JUMP_S + 1, 86_400.0 * 400])
def test_nothing_is_removed_for_an_hour_after_a_jump(clock: Clock, jump_s: float, caplog: pytest.LogCaptureFixture) -> None:
    watch = ClockWatch()
    clock.go_on(600)
    assert watch.is_steady()
    clock.wall_s += jump_s
    with caplog.at_level(logging.WARNING):
        assert not watch.is_steady()
        clock.go_on(STEADY_S - 1)
        assert not watch.is_steady()
    assert [record.getMessage().partition(" by")[0] for record in caplog.records] == [
        f"the clock was set {'forward' if jump_s > 0 else 'back'}"
    ], "once"
    clock.go_on(2)
    assert watch.is_steady()


def test_corrections_are_no_jumps(clock: Clock) -> None:
    watch = ClockWatch()
    for _ in range(100):
        clock.go_on(600)
        clock.wall_s += 5
        assert watch.is_steady()


def test_rules_wait_after_a_jump(clock: Clock, experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(experiment)
    Run.objects.filter(pk=run.pk).update(state="succeeded", finished_at=timezone.now())
    RetentionRule.objects.create(lab=experiment.lab, what="runs", days=30)
    monkeypatch.setattr(caretaker, "CLOCK", ClockWatch())
    year = timedelta(days=400)
    clock.wall_s += year.total_seconds()
    with mock.patch("django.utils.timezone.now", return_value=timezone.now() + year):
        caretaker.tidy()
        assert not Run.objects.filter(deleted_at__isnull=False).exists()
        clock.go_on(STEADY_S + 1)
        caretaker.tidy()
        assert Run.objects.filter(deleted_at__isnull=False).exists(), "a clock that stays there is believed"


def test_a_run_whose_lease_seems_over_is_executed_by_one_worker(experiment: Experiment, redis: RedisProcess) -> None:
    """The clock jumps forward: another worker takes the run, and what the first one finds out is not stored."""
    run = new_run(experiment)
    assert Run.objects.claim(run.pk, "first")
    with mock.patch("django.utils.timezone.now", return_value=timezone.now() + timedelta(hours=1)):
        assert [work.pk for work in Run.objects.take_back_lost(lambda holder: False)] == [run.pk]
        assert Run.objects.claim(run.pk, "second")
    assert not Run.objects.renew(run.pk, "first")
    assert Run.objects.held(run.pk, "first").update(state="succeeded") == 0
    assert Run.objects.held(run.pk, "second").update(state="succeeded") == 1


def test_a_dead_worker_is_noticed_though_its_lease_ends_in_the_future(experiment: Experiment) -> None:
    """The clock jumped back after the claim."""
    run = new_run(experiment)
    with mock.patch("django.utils.timezone.now", return_value=timezone.now() + timedelta(days=1)):
        assert Run.objects.claim(run.pk, "gone")
    assert Run.objects.take_back_lost(lambda holder: False) == []
    assert [work.pk for work in Run.objects.take_back_lost(lambda holder: holder == "gone")] == [run.pk]
