"""Documents of experiments and studies as people have them: mappings, files, texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from .errors import LabError

Document = Mapping[str, Any] | str | Path


def read_document(source: Document) -> dict[str, Any]:
    """A mapping as it is; otherwise the YAML or JSON of a file, or of a text (one that has a line break or begins with '{').

    Raises LabError when there is no such file, or it holds no mapping.
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
        raise LabError(f"{name} holds no mapping; a document has fields like query, cluster and workload")
    return tree
