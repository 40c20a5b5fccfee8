"""An evaluation in a process of its own: `python -m engine.learning.process` (`engine.figures.evaluations`).

Reads one line of JSON, {"evaluation", "directory", "processes"}. Writes lines of JSON: {"told"} while it works, and at the end {"scores"}
or {"error"}. Whoever has started it may end its process group at any time; what was done is kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from engine.spec.figure.evaluations import AnyEvaluation, Evaluation, Scores

NEEDED = "{} is not installed; run: pip install -r requirements-models.txt -c constraints.txt"


def main() -> None:
    wanted = json.loads(sys.stdin.readline())
    evaluation: Evaluation = TypeAdapter(AnyEvaluation).validate_python(wanted["evaluation"])
    try:
        _write({"scores": _made(evaluation, Path(wanted["directory"]), wanted["processes"]).as_json()})
    except BrokenPipeError:
        return  # nobody waits for it any more
    except ModuleNotFoundError as error:
        _write({"error": NEEDED.format(error.name)})
    except (ValueError, OSError) as error:  # CorpusError, TrainingError, BrokenModel; a full disk
        _write({"error": str(error)})


def _made(evaluation: Evaluation, directory: Path, processes: int) -> Scores:
    from engine.learning.evaluations import evaluate
    from engine.learning.stock import Stock

    return evaluate(evaluation, Stock(directory, processes, lambda doing: _write({"told": doing})))


def _write(line: dict[str, Any]) -> None:
    sys.stdout.write(f"{json.dumps(line)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
