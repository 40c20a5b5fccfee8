"""`manage.py reproduce`: figures carried out, kept in the lab, and listed."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import OperationalError
from django.test import Client

import engine
from engine.spec.figure.files import FigureFiles
from webapp.lab import figures
from webapp.lab.models import Experiment, FigureResult, Lab, Run, RunState
from webapp.reports import results_page

from .conftest import manage, new_run
from .figure_files import in_place_of_ours, write

pytestmark = pytest.mark.slow


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FigureFiles]:
    """Two small figures in place of those that come with Millrace; one of them cannot hold."""
    yield from in_place_of_ours(tmp_path, monkeypatch, {"test/1": "out == 2 * rate", "test/2": "out > 1e9 and out / (rate - rate) > 1"})


def reproduce(*arguments: str) -> str:
    out = io.StringIO()
    call_command("reproduce", *arguments, stdout=out, stderr=out)
    return out.getvalue()


def test_figures_are_carried_out_kept_and_listed(lab: Lab, files: FigureFiles) -> None:
    before = json.loads(reproduce("--list", "--json"))
    assert [(one["id"], one["status"], one["scale"]) for one in before] == [("test/1", "not run", None), ("test/2", "not run", None)]
    assert [assertion["state"] for assertion in before[0]["assertions"]] == ["not run", "not run"]
    made = json.loads(reproduce("test", "--json", "--processes", "1"))
    assert [(one["id"], one["status"], one["scale"], one["runs"]) for one in made] == [
        ("test/1", "reproduced", "smoke", 1),
        ("test/2", "partly", "smoke", 1),
    ]
    assert made[0]["values"]["out"]["value"] == 200
    assert len(made[0]["values"]["out"]["runs"]) == 1
    (unknown, _) = made[1]["assertions"]
    assert (unknown["state"], unknown["reason"]) == ("not evaluated", "division by zero: rate - rate is 0")
    after = json.loads(reproduce("--list", "--json"))
    assert [(one["status"], one["scale"], one["seeds"]) for one in after] == [("reproduced", "smoke", [1]), ("partly", "smoke", [1])]
    assert after[0]["assertions"] == [one | {"unmet": None, "consistency": False} for one in made[0]["assertions"]]
    assert after[0]["assertions"][0]["sides"] == [
        {"text": "out", "least": 200, "most": 200},
        {"text": "2 * rate", "least": 200, "most": 200},
    ]
    text = reproduce("--list", "test/2")
    assert "partly at smoke scale" in text
    assert "not evaluated: division by zero" in text


def test_figures_are_served(lab: Lab, files: FigureFiles, client: Client, experiment: Experiment) -> None:
    (item, _) = client.get("/api/figures").json()
    assert (item["id"], item["status"], item["scale"], item["assertions"]) == ("test/1", "not run", None, {"not run": 2})
    detail = client.get("/api/figures/test/1").json()
    assert (detail["status"], detail["values"], detail["results"]) == ("not run", {}, [])
    assert [assertion["state"] for assertion in detail["assertions"]] == ["not run", "not run"]
    reproduce("test", "--processes", "1")
    (one, two) = client.get("/api/figures").json()
    assert (one["status"], one["scale"], one["runs"], one["assertions"]) == ("reproduced", "smoke", 1, {"holds": 2})
    assert two["assertions"] == {"not evaluated": 1, "holds": 1}
    detail = client.get("/api/figures/test/1?scale=smoke").json()
    (key,) = detail["values"]["out"]["runs"]
    assert (detail["values"]["out"]["value"], detail["lab_runs"], detail["results"][0]["stale"]) == (200, {}, False)
    assert client.get("/api/figures/test/1?scale=dev").json()["status"] == "not run"
    run = new_run(experiment)
    Run.objects.filter(pk=run.pk).update(hash=key)
    assert client.get("/api/figures/test/1").json()["lab_runs"] == {
        key: {"id": str(run.pk), "number": run.number, "seed": run.seed, "state": "queued"}
    }
    study = client.get("/api/figures/test/1/studies/one").json()["document"]
    answer = client.post("/api/studies/validate", {"document": study}, content_type="application/json").json()
    assert (answer["problems"], answer["points"]) == ([], 1)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/figures/test/9", 404),
        ("/api/figures/../secret", 404),
        ("/api/figures/test/1?scale=huge", 422),
        ("/api/figures/test/1/studies/two", 404),
        ("/api/figures/test/%00", 404),
    ],
)
def test_figures_that_are_not_there(lab: Lab, files: FigureFiles, client: Client, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_a_run_that_the_lab_has_is_not_made_again(lab: Lab, files: FigureFiles, client: Client, experiment: Experiment) -> None:
    (made, _) = json.loads(reproduce("test", "--json", "--processes", "1"))
    key = made["values"]["out"]["runs"][0]
    document = client.get("/api/figures/test/1/studies/one?scale=smoke").json()["document"]["experiment"]
    run = new_run(experiment)
    done = engine.run(document, out=run.directory)
    assert done.simulation.experiment.hash == key
    changes = {"hash": key, "state": RunState.SUCCEEDED, "engine_version": engine.ENGINE_VERSION, "frames": len(done.frames)}
    Run.objects.filter(pk=run.pk).update(**changes, document=document, summary=done.summary | {"records_out": 777})
    (other, _) = json.loads(reproduce("test", "--json", "--processes", "1"))
    assert other["values"]["out"]["value"] == 777, "it is the lab's run"
    Run.objects.filter(pk=run.pk).update(frames=len(done.frames) + 1)
    (again, _) = json.loads(reproduce("test", "--json", "--processes", "1"))
    assert again["values"] == made["values"], "its files are incomplete, so it was made"


def test_the_largest_scale_is_shown_and_a_changed_figure_is_not_run(lab: Lab, files: FigureFiles) -> None:
    reproduce("test/1", "--scale", "dev", "--processes", "1")
    reproduce("test/1", "--processes", "1")
    assert [result.scale for result in FigureResult.objects.order_by("pk")] == ["dev", "smoke"]
    assert figures.known("test/1", lab).scale == "dev"
    write(files, "test/1", "out == 3 * rate")
    figures.read_again()
    assert figures.known("test/1", lab).status == "not run"
    assert "does not hold: out == 3 * rate" in reproduce("test/1", "--processes", "1")


def test_results_are_shipped_shown_and_made_again(lab: Lab, files: FigureFiles, client: Client) -> None:
    """What comes with Millrace counts until the lab has a result of its own, and says whether both agree."""
    reproduce("test", "--scale", "dev", "--ship", "--processes", "1")
    FigureResult.objects.all().delete()
    (one, two) = client.get("/api/figures").json()
    assert (one["status"], one["scale"], one["is_shipped"]) == ("reproduced", "dev", True)
    assert one["shipped"]["engine_version"] == engine.ENGINE_VERSION
    assert two["lacking"] == ["M-1"]
    detail = client.get("/api/figures/test/1").json()
    assert (detail["is_shipped"], detail["agrees"], detail["values"]["out"]) == (True, None, {"value": 200})
    assert [(result["scale"], result["is_shipped"]) for result in detail["results"]] == [("dev", True)]
    assert client.get("/api/figures/test/1?scale=smoke").json()["status"] == "not run"
    assert b"reproduced" in client.get("/api/figures/test/1/report").content

    reproduce("test/1", "--processes", "1")
    (one, _) = client.get("/api/figures").json()
    assert (one["scale"], one["is_shipped"], one["shipped"]["scale"]) == ("smoke", False, "dev"), "either stands beside the other"
    reproduce("test/1", "--scale", "dev", "--processes", "1")
    detail = client.get("/api/figures/test/1").json()
    assert (detail["is_shipped"], detail["agrees"]) == (False, True)
    FigureResult.objects.filter(scale="dev").update(values={"out": {"value": 201}, "rate": {"value": 100}})
    assert client.get("/api/figures/test/1").json()["agrees"] is False


def test_shipped_results_are_readable_and_have_a_page(lab: Lab, files: FigureFiles) -> None:
    unmet = {"why": "The bar is a billion", "on": "2026-01-02"}
    assertion = {"id": "M-1", "text": "A great many", "check": "out > 1e9", "unmet": unmet}
    write(files, "test/2", "", assertions=[assertion])
    figures.read_again()
    reproduce("test", "--scale", "dev", "--ship", "--processes", "1")
    path = files.root / "results" / "test" / "2.dev.json"
    assert f' "engine_version": "{engine.ENGINE_VERSION}",' in path.read_text().splitlines()
    page = (files.root.parent / "docs" / "results.md").read_text()
    assert "2 of 3 assertions hold. Figures: 1 reproduced, 1 not reproduced." in page
    assert "* `test/2` M-1, fails: A great many. Measured: `out` = 200. *The bar is a billion.* (2026-01-02)" in page
    assert page == results_page.text()


def test_shipped_results_that_cannot_be_read_or_are_of_another_figure_are_left_out(
    lab: Lab, files: FigureFiles, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    reproduce("test", "--scale", "dev", "--ship", "--processes", "1")
    FigureResult.objects.all().delete()
    results = figures.result_files()
    one, two = results.path("test/1", "dev"), results.path("test/2", "dev")

    def left_out() -> list[str]:
        figures.read_again()
        return [item["status"] for item in client.get("/api/figures").json()]

    whole = one.read_text()
    one.write_text(whole[:200])
    assert left_out() == ["not run", "partly"]
    assert "results/test/1.dev.json cannot be read" in caplog.text
    one.write_bytes(two.read_bytes())
    assert left_out() == ["not run", "partly"]
    assert "results/test/1.dev.json holds the result of test/2.dev.json" in caplog.text
    one.write_text(whole.replace('"hash": "', '"hash": "0'))
    assert left_out() == ["not run", "partly"], "of the figure as it was before"
    one.write_text(whole.replace(f'"engine_version": "{engine.ENGINE_VERSION}"', '"engine_version": "999"'))
    assert left_out() == ["reproduced", "partly"]
    assert client.get("/api/figures").json()[0]["engine_version"] == "999", "it says so"
    results.path("test/9", "dev").write_text(whole)
    assert left_out() == ["reproduced", "partly"], "nobody asks for it"


def test_a_place_that_cannot_be_written_is_named(lab: Lab, files: FigureFiles, capsys: pytest.CaptureFixture[str]) -> None:
    (files.root / "results").write_text("in the way")
    with pytest.raises(SystemExit) as ended:
        reproduce("test/1", "--ship", "--processes", "1")
    assert ended.value.code == 2
    assert FigureResult.objects.count() == 1, "it is in the lab"


def test_with_a_full_disk_results_are_told_all_the_same(lab: Lab, files: FigureFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(figures, "store", full)
    told = reproduce("test/1", "--processes", "1")
    assert "the result of 'test/1' is not stored in the lab: database or disk is full" in told
    assert "test/1  reproduced" in told
    monkeypatch.setattr("webapp.lab.management.commands.reproduce.lab", full)
    told = reproduce("test/1", "--processes", "1")
    assert "the database cannot be written, so results are not stored: database or disk is full" in told
    assert "test/1  reproduced" in told
    assert FigureResult.objects.count() == 0


def test_bad_figures_and_names_are_told_plainly(lab: Lab, client: Client, files: FigureFiles, capsys: pytest.CaptureFixture[str]) -> None:
    write(files, "test/3", "out == rat")
    for arguments, status, words in ((("test",), 2, "did you mean 'rate'"), (("tset/1",), 3, "did you mean 'test/1'")):
        with pytest.raises(SystemExit) as ended:
            call_command("reproduce", *arguments)
        assert ended.value.code == status
        told = capsys.readouterr()
        assert words in told.err
        assert "tset/1" in told.err or "figure 'test/3'" in told.err
        assert "Traceback" not in told.err
    with pytest.raises(SystemExit):
        call_command("reproduce", "test", "--json")
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["pointer"] == "/assertions/0/check"
    for path in ("/api/figures", "/api/figures/test/3"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["problems"][0]["pointer"]) == (422, "/assertions/0/check")
    write(files, "test/3", "out == rate", scales={"paper": {"changes": [{"fields": ["/experiment/nowhere/x"], "value": 1}]}})
    figures.read_again()
    assert "/scales/paper/changes/0/fields/0" in client.get("/api/figures/test/3").json()["problems"][0]["pointer"]
    assert FigureResult.objects.count() == 0


def test_without_a_database_figures_are_listed_and_carried_out_all_the_same(tmp_path: Path) -> None:
    listed = manage("reproduce", "--list", "--json", data=tmp_path)
    assert listed.returncode == 0
    assert "not up to date" in listed.stderr
    statuses = {one["id"]: one["status"] for one in json.loads(listed.stdout)}
    assert statuses["benchmark/3.5"] == "reproduced", "it comes with Millrace"
    assert "benchmark/3.7" in statuses
    done = manage("reproduce", "benchmark/3.5", "--json", data=tmp_path)
    assert json.loads(done.stdout)[0]["status"] == "reproduced"
