"""Learning in a process of its own: `python -m engine.learning.process` (`engine.learning.client`).

Reads one line of JSON, {"kind", "request", "directory", "processes"}. Writes lines of JSON: {"told"} while it works, and at the end
{"answer"} or {"error"}. Whoever has started it may end its process group at any time; what was done is kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from engine.spec.figure.evaluations import AnyEvaluation, Models

NEEDED = "{} is not installed; run: pip install -r requirements-models.txt -c constraints.txt"


def main() -> None:
    wanted = json.loads(sys.stdin.readline())
    try:
        _write({"answer": _answer(wanted["kind"], wanted["request"], Path(wanted["directory"]), wanted["processes"])})
    except BrokenPipeError:
        return  # nobody waits for it any more
    except ModuleNotFoundError as error:
        _write({"error": NEEDED.format(error.name)})
    except (ValueError, OSError) as error:  # CorpusError, TrainingError, BrokenModel; a full disk
        _write({"error": str(error)})


def _answer(kind: str, request: dict[str, Any], directory: Path, processes: int) -> Any:
    if kind == "corpus":
        from engine.corpus.making import make_named

        return make_named(directory / "corpora" / request["name"], request["seed"], request["traces"], processes, _told)
    if kind == "models":
        from engine.learning.models import learn

        lesson = (directory / "corpora" / request["corpus"], directory / "models" / request["name"])
        return learn(*lesson, Models.model_validate(request["models"]), processes, _told)
    from engine.learning.evaluations import evaluate
    from engine.learning.stock import Stock

    return evaluate(TypeAdapter(AnyEvaluation).validate_python(request), Stock(directory, processes, _told)).as_json()


def _told(doing: str) -> None:
    _write({"told": doing})


def _write(line: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
