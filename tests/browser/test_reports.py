"""What is taken away by itself: reports that need no server, and charts as pictures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, expect

from .test_run import start
from .test_studies import rates, short_runs, started
from .waiting import until_ended, wait_until_ended


def odd(document: dict[str, Any]) -> None:
    short_runs(document)
    document["name"] = "<script>alert(1)</script> & sons"
    document["faults"] = [{"kind": "pause", "host": "w2", "when": {"kind": "at", "at_s": 3.0}, "for_ms": 400}]


def test_reports_stand_by_themselves(
    page: Page, browser: Browser, api: httpx.Client, experiment: Callable[..., str], tmp_path: Path
) -> None:
    experiment_id = experiment(odd)
    run_id = start(api, experiment_id)
    fields = rates(api.get(f"/api/experiments/{experiment_id}").json()["document"])
    load = {"name": "load", "fields": fields, "multiply": True, "values": {"kind": "list", "of": [0.5, 1]}}
    study = started(api, experiment_id, name="Two loads", axes=[load], seeds=[1, 2])
    api.post("/api/figures/benchmark/3.5/reproductions", json={"scale": "smoke"}).raise_for_status()
    wait_until_ended(api, page, run_id)
    until_ended(api, f"/api/studies/{study}", page)
    until_ended(api, "/api/figures/benchmark/3.5/reproductions", page)
    run = api.get(f"/api/runs/{run_id}").json()
    wanted = {
        f"/api/runs/{run_id}/export?format=html": (["Latency", "Throughput", "Waiting records", "Attribution"], run["digest"]),
        f"/api/studies/{study}/report": (["latency_ms.p99", "latency_ms.p50", "throughput_out_per_s"], "millrace-"),
        "/api/figures/benchmark/3.5/report?scale=smoke": (None, "A3"),
    }
    for number, (path, (charts, said)) in enumerate(wanted.items()):
        answer = api.get(path)
        answer.raise_for_status()
        assert answer.headers["Content-Disposition"].endswith('.html"')
        file = tmp_path / f"{number}.html"
        file.write_bytes(answer.content)
        context = browser.new_context(offline=True, viewport={"width": 1280, "height": 800})
        alone = context.new_page()
        trouble: list[str] = []
        alone.on("console", lambda message, trouble=trouble: trouble.append(message.text))
        alone.on("pageerror", lambda error, trouble=trouble: trouble.append(str(error)))
        alone.on("request", lambda request, trouble=trouble: trouble.append(request.url) if not request.url.startswith("file:") else None)
        alone.goto(file.as_uri())
        shown = alone.locator("figure svg.chart")
        if charts:
            assert [label.split(":")[0] for label in shown.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")] == charts
        expect(shown.first).to_be_visible()
        expect(shown.first.locator("path, circle, rect").first).to_be_attached()
        expect(alone.get_by_text(said).first).to_be_attached()
        assert alone.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert not trouble, trouble
        print(f"{path}: {len(answer.content) / 1000:.0f} kB")
        context.close()


def test_a_chart_is_taken_along_as_a_picture(page: Page, api: httpx.Client, experiment: Callable[..., str]) -> None:
    run_id = start(api, experiment(short_runs))
    wait_until_ended(api, page, run_id)
    number = api.get(f"/api/runs/{run_id}").json()["number"]
    page.goto(f"/runs/{run_id}")
    begins = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}
    for title, format in (("Latency", "svg"), ("Latency", "png"), ("Latency", "pdf"), ("Attribution", "pdf")):
        page.get_by_title(f"{title}: save as a picture").click()
        with page.expect_download() as taken:
            page.get_by_role("button", name=f"{format.upper()} ").click()
        assert taken.value.suggested_filename == f"run-{number}-{title.lower()}.{format}"
        content = Path(taken.value.path()).read_bytes()
        assert content.startswith(begins[format])
        assert len(content) > 2000
