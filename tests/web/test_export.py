"""What is taken away from a run."""

from __future__ import annotations

import csv
import io
import json

import pyarrow.parquet as parquet
import pytest
import yaml
from django.test import Client

import engine
from webapp.lab.models import Lab
from webapp.reports import python_code
from workers import execution

from .conftest import new_experiment, new_run, small_document

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


def test_a_run_can_be_taken_away_in_every_format(client: Client) -> None:
    experiment = new_experiment(Lab.objects.get(), {**small_document(), "name": "50 % more & {odd}"})
    run = new_run(experiment)

    def got(format: str) -> bytes:
        answer = client.get(f"/api/runs/{run.pk}/export", {"format": format})
        assert (answer.status_code, answer["Content-Disposition"]) == (200, f'attachment; filename="run-1-seed-1.{format}"')
        return bytes(answer.content)

    assert got("csv") == b"", "a run without frames is an empty table"
    assert b"queued" in got("html")
    execution.execute(str(run.pk))
    run.refresh_from_db()
    frames = engine.run(small_document()).frames
    rows = list(csv.DictReader(io.StringIO(got("csv").decode())))
    assert [float(row["t_s"]) for row in rows] == [frame["t_s"] for frame in frames]
    assert [float(row["latency_ms.p99"]) for row in rows] == [frame["latency_ms"]["p99"] for frame in frames]
    read = parquet.read_table(io.BytesIO(got("parquet")))
    assert read["operators.sink.in_per_s"].to_pylist() == [frame["operators"]["sink"]["in_per_s"] for frame in frames]
    assert json.loads(read.schema.metadata[b"millrace"])["digest"] == run.digest
    everything = json.loads(got("json"))
    assert (everything["frames"], everything["summary"]) == (frames, run.summary)
    assert engine.run(yaml.safe_load(got("yaml"))).digest == run.digest, "the document makes the run again"
    assert python_code.read(got("py").decode())["name"] == "50 % more & {odd}"
    assert "<title>50 % more &amp; {odd}</title>" in (report := got("html").decode())
    assert (report.count('<svg class="chart"'), "<script" in report, run.digest in report) == (4, False, True)
    cited = got("bib").decode()
    assert run.digest in cited
    assert "title = {50   more    odd },".replace(" ", "") in cited.replace(" ", "")
    assert client.get(f"/api/runs/{run.pk}/export", {"format": "exe"}).status_code == 422
