"""Citations of runs, studies and figures, by the hashes, seeds and versions that reproduce them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from engine.spec import canonical_json
from webapp.lab.models import Run, Study
from webapp.lib.version import VERSION

if TYPE_CHECKING:
    from webapp.lab.figures import Known


def run_bibtex(run: Run) -> str:
    note = f"document {run.hash}, seed {run.seed}, result {run.digest or 'none'}"
    return bibtex(f"{run.hash[:12]}-{run.seed}", run.name, run.engine_version, run.created_at.year, note)


def study_bibtex(study: Study) -> str:
    hash = hashlib.blake2b(canonical_json(study.document), digest_size=32).hexdigest()
    versions = study.trials.exclude(run=None).exclude(run__engine_version="").values_list("run__engine_version", flat=True).distinct()
    return bibtex(hash[:12], study.name, ", ".join(sorted(versions)), study.created_at.year, f"study {hash}")


def figure_bibtex(known: Known) -> str:
    figure, result = known.figure, known.result
    if result is None:
        return ""
    note = f"figure {figure.id}, {result.scale} scale, {result.status}, studies {result.hash}"
    return bibtex(f"{result.hash[:12]}", f"{figure.title} ({figure.source.paper})", result.engine_version, result.created_at.year, note)


def bibtex(key: str, title: str, engine_version: str, year: int, note: str) -> str:
    lines = [
        f"@misc{{millrace-{key},",
        f"  title = {{{_plain(title)}}},",
        f"  howpublished = {{Millrace {VERSION}, engine version {engine_version or 'none yet'}}},",
        f"  year = {{{year}}},",
        f"  note = {{{note}}}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _plain(text: str) -> str:
    """Replace characters that are special in BibTeX with spaces."""
    return "".join(" " if character in "{}\\$%#&~^_" else character for character in text)
