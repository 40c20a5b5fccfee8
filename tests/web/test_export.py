"""What is taken away from a run."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from xml.etree import ElementTree

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


def test_a_report_has_the_topology_the_autoscaler_and_a_folded_document(client: Client) -> None:
    document = small_document()
    for edge in document["query"]["edges"]:
        edge["partitioning"] = {"kind": "rebalance"}
    document["policies"]["scaling"] = {
        "kind": "manual",
        "orders": [{"at_s": 0.4, "parallelism": {"sink": 3}}],
        "rescaling": {"kind": "in_place"},
    }
    run = new_run(new_experiment(Lab.objects.get(), document))
    waiting = client.get(f"/api/runs/{run.pk}/export", {"format": "html"}).content.decode()
    assert "bids not measured" in waiting, "the query and its hosts are there before the run begins"
    execution.execute(str(run.pk))
    report = client.get(f"/api/runs/{run.pk}/export", {"format": "html"}).content.decode()
    assert not re.search(r"<script|<link|<img|src=|url\(|@import", report), "nothing is loaded"

    ((folded, written),) = re.findall(r"<details( open)?><summary>Show as YAML</summary><pre>(.*?)</pre></details>", report, re.DOTALL)
    assert (folded, yaml.safe_load(html.unescape(written))) == ("", run.document)

    (chart,) = [svg for svg in re.findall(r'<svg class="chart".*?</svg>', report, re.DOTALL) if "Autoscaling" in svg]
    frames = engine.run(document).frames
    steps = [frame["scaling"]["parallelism"]["sink"] for frame in frames]
    assert (steps[0], steps[-1]) == (4, 3)
    lines = ElementTree.fromstring(chart).findall("path")
    assert len(lines) == len(frames[0]["scaling"]["parallelism"])
    levels = [{float(y) for _, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", line.get("d") or "")} for line in lines]
    assert sorted(map(len, levels)) == [1, 1, 2], "only the sink changes its parallelism, in one step"

    (picture,) = re.findall(r'<svg class="topology".*?</svg>', report, re.DOTALL)
    drawn = ElementTree.fromstring(picture)
    titles = [title.text or "" for title in drawn.iter("title")]
    after = [frame for frame in frames if frame["t_s"] > 0]
    for name in ("bids", "euros", "sink"):
        most = max(max(frame["operators"][name]["busy"], frame["operators"][name].get("most", {}).get("busy", 0)) for frame in after)
        (title,) = [one for one in titles if one.startswith(f"{name}: ")]
        (kind,) = [one["kind"] for one in document["query"]["operators"] if one["id"] == name]
        run.refresh_from_db()
        assert title == f"{name}: mean {100 * run.summary['operators'][name]['busy']:.0f} %, max {100 * most:.0f} % busy: {kind}"
    hosts = [one for one in titles if re.match(r"w\d: ", one)]
    assert len(hosts) == 4
    assert all(one.endswith(": bids, euros, sink") for one in hosts)
