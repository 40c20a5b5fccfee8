"""A query is given as a program of PySpark with its input."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.test import Client

from webapp.reports import spark_program

from ..support.agreement import template

pytestmark = pytest.mark.django_db


def asked(client: Client, document: dict[str, Any]) -> Any:
    return client.post("/api/pyspark", {"document": document}, content_type="application/json")


def test_a_zip_has_the_program_and_its_input(client: Client) -> None:
    answer = asked(client, template("nexmark_q2", horizon_s=0.5))
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    assert "query.zip" in answer["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as archive:
        names = archive.namelist()
        assert names[-1] == "query/query.py"
        assert len([name for name in names if name.startswith("query/input/bids/")]) == 9
        assert b"def queries(spark" in archive.read("query/query.py")


def test_what_cannot_be_written_says_why_and_where(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = asked(client, template("nexmark_q3_ttl"))
    assert refused.status_code == 422
    assert refused.json()["detail"] == "join (Join with expiry) has no equivalent in Spark's SQL over streams"
    assert [problem["pointer"] for problem in refused.json()["problems"]] == ["/query/operators/3"]
    broken = template("nexmark_q2")
    broken["query"]["operators"][1]["params"]["predicate"] = "auction +"
    assert asked(client, broken).json()["problems"][0]["pointer"] == "/query/operators/1/params/predicate"
    monkeypatch.setattr(spark_program, "RECORDS_MAX", 1000)
    many = asked(client, template("nexmark_q2", horizon_s=0.5))
    assert many.status_code == 422
    assert many.json()["detail"] == (
        "the sources make 10,000 records; at most 1,000 can be written here; shorten the horizon, or use: python manage.py export"
    )


def test_the_command_writes_a_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, made = tmp_path / "q2.yaml", tmp_path / "made"
    file.write_text(yaml.safe_dump(template("nexmark_q2", horizon_s=0.5)))
    call_command("export", str(file), str(made))
    assert "query.py writes sink; run it there: python query.py" in capsys.readouterr().out
    assert (made / "query.py").is_file()
    refused = tmp_path / "refused.yaml"
    refused.write_text(yaml.safe_dump(template("nexmark_q3_ttl")))
    for arguments, status, words in (
        ((str(file), str(made)), 3, "is not empty; name a new directory"),
        ((str(refused), str(tmp_path / "other")), 2, "/query/operators/3: join (Join with expiry) has no equivalent in Spark"),
        ((str(tmp_path / "nowhere.yaml"), str(tmp_path / "other")), 2, "nowhere.yaml"),
        ((str(file), str(tmp_path / "other"), "--batches", "0"), 2, "--batches is 0; it must be 1 to 10,000"),
        ((str(file), "/proc/made"), 3, "/proc/made"),
    ):
        with pytest.raises(SystemExit) as ended:
            call_command("export", *arguments)
        told = capsys.readouterr().err
        assert ended.value.code == status, told
        assert words in told


def ran(*arguments: str) -> int:
    try:
        call_command("run", *arguments)
    except SystemExit as ended:
        return int(str(ended.code))
    return 0


def test_a_run_on_spark_says_what_it_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    file, refused = tmp_path / "q2.yaml", tmp_path / "refused.yaml"
    file.write_text(yaml.safe_dump(template("nexmark_q2", horizon_s=0.1)))
    refused.write_text(yaml.safe_dump(template("nexmark_q3_ttl")))
    assert ran(str(refused), "--backend", "spark") == 2
    assert "/query/operators/3: join (Join with expiry)" in capsys.readouterr().err
    assert ran(str(file), "--backend", "spark", "--slowest", "3") == 2
    assert "--slowest asks for records of the model" in capsys.readouterr().err
    assert ran(str(file), "--backend", "spark", "--out", "/proc/made") == 4
    assert "/proc/made cannot be written" in capsys.readouterr().err
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert ran(str(file), "--backend", "spark", "--json") == 8
    assert "Java is missing: JAVA_HOME is" in json.loads(capsys.readouterr().out)["detail"]


@pytest.mark.spark
@pytest.mark.deep
@pytest.mark.slow
def test_a_run_on_spark_is_compared_record_by_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "q2.yaml"
    file.write_text(yaml.safe_dump(template("nexmark_q2", horizon_s=0.5)))
    assert ran(str(file), "--backend", "spark", "--json", "--out", str(tmp_path / "kept")) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["equal"]
    assert told["sinks"]["sink"]["of_spark"] == told["sinks"]["sink"]["of_model"] > 0
    assert (told["records_in"], told["batches"], told["late"], told["dropped"]) == (10_000, 9, 0, 0)
    assert told["records_per_s"] > 0
    assert (tmp_path / "kept" / "query.py").is_file()
