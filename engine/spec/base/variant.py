"""Members of the document's tagged unions (`kind: ...`), with their texts for palettes, forms and API docs."""

from __future__ import annotations

from typing import ClassVar

from .operator import Model


class Variant(Model):
    """A kind of a family. A subclass has a field `kind` (a literal); its docstring is shown beside the form."""

    title: ClassVar[str]
    group: ClassVar[str] = ""
    icon: ClassVar[str] = ""
    source: ClassVar[str] = ""  # paper, section; empty for common knowledge
    position: ClassVar[int] = 1000  # display order within the family; kinds of other packages come last
    facts: ClassVar[tuple[str, ...]] = ()  # further class attributes that pages need
