"""Members of the document's tagged unions (`kind: ...`): what each shows to palettes, forms and the API docs."""

from __future__ import annotations

from typing import ClassVar

from .operator import Model


class Variant(Model):
    """One kind of a family. The subclass has a field `kind` (a literal), and its docstring is the text beside the form."""

    title: ClassVar[str]
    group: ClassVar[str] = ""
    icon: ClassVar[str] = ""
    source: ClassVar[str] = ""  # paper, section; empty for common knowledge
    position: ClassVar[int] = 1000  # among the kinds of its family, where they are offered; kinds of other packages come last
    facts: ClassVar[tuple[str, ...]] = ()  # further attributes of the class that pages ask for
