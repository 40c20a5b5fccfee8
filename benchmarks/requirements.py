"""What programs of this package need beside what Millrace itself needs, and what they say where it is not installed."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[1]
FILES = ("requirements-test.txt", "requirements-test-postgresql.txt")
MODULES = {"pillow": "PIL"}
"""Modules that are not called as their packages are."""


def file_of(module: str) -> str | None:
    """Return the file of requirements that brings a module; None if it is none that tests need."""
    for name in FILES:
        for line in (ROOT / name).read_text().splitlines():
            found = re.match(r"[A-Za-z0-9][\w.-]*", line)
            if found and MODULES.get(found[0].lower(), found[0].replace("-", "_")) == module:
                return name
    return None


def missing(module: str) -> str:
    """Return the sentence for a module that is not installed."""
    name = file_of(module) or FILES[0]
    return (
        f"{module} is not installed, and this program needs it, as the tests do: run `{sys.executable} -m pip install -r {name} -c "
        f"constraints.txt` in {ROOT}"
    )


def require(*modules: str) -> None:
    """End the program with a sentence if one of these modules is not installed. For programs that start others, which need them."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise SystemExit(missing(module))


def excepthook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
    """Say in a sentence that a module of the tests' requirements is not installed, wherever it is imported; show any other error whole."""
    module = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if module and file_of(module):
        print(missing(module), file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, traceback)
