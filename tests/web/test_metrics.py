"""What Prometheus reads. Catches: numbers of another lab, and a page that everybody can read."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from webapp.lab.models import Experiment, Lab

from .conftest import new_experiment, new_run, small_document

pytestmark = pytest.mark.django_db


def test_it_counts_what_the_lab_has(client: Client, experiment: Experiment, redis: Any) -> None:
    elsewhere = new_experiment(Lab.objects.create(name="Elsewhere"), small_document())
    new_run(elsewhere)
    for state in ("queued", "succeeded", "succeeded"):
        run = new_run(experiment)
        run.state = state
        run.save()
    answer = client.get("/metrics")
    assert answer.status_code == 200
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }
    assert samples["millrace_runs", "succeeded"] == 2
    assert samples["millrace_runs", "queued"] == 1
    assert samples["millrace_runs", "failed"] == 0
    assert samples["millrace_experiments",] == 1
    assert samples["millrace_people", "owner"] == 1
    assert samples["millrace_up", "redis"] == 1
    assert samples["process_resident_memory_bytes",] > 0


def test_a_stranger_reads_nothing() -> None:
    refused = Client(HTTP_HOST="127.0.0.1").get("/metrics")
    assert refused.status_code == 401
    assert "millrace_runs" not in refused.content.decode()
