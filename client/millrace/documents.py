"""Documents of experiments and studies as mappings, files or texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from .errors import LabError

Document = Mapping[str, Any] | str | Path


def read_document(source: Document) -> dict[str, Any]:
    """Return a mapping unchanged; otherwise parse YAML or JSON from a file or a text (one that contains a line break or starts with '{').

    Raises LabError if there is no such file, or if it does not contain a mapping.
    """
    if isinstance(source, Mapping):
        return dict(source)
    written = isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{"))
    name = "the document" if written else str(source)
    try:
        tree = yaml.safe_load(str(source) if written else Path(source).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise LabError(f"{name} cannot be read: {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError, ValueError) as error:
        raise LabError(f"{name} is neither YAML nor JSON: {error}") from None
    if not isinstance(tree, dict):
        raise LabError(f"{name} is not a mapping; a document has fields like query, cluster and workload")
    return tree
