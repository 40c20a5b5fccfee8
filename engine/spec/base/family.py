"""Families of kinds: discovered automatically, one file per kind, open to other packages.

A family is a tagged union of the document (`kind: ...`), such as the placements. Its own kinds are the modules of one package below
`engine.spec.experiment`, one file each. If documents must not import a kind's behaviour, that lives in a file of the same name in another
package, where `implementation` finds it. A kind of another package is a single class with both.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib.metadata import entry_points
from types import UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin
from weakref import WeakSet

from pydantic import Field, TypeAdapter

from .operator import Model
from .variant import Variant

KIND = re.compile(r"[a-z][a-z0-9_]{0,62}")
CACHED = ("__pydantic_core_schema__", "__pydantic_validator__", "__pydantic_serializer__")

log = logging.getLogger("millrace.packages")


class Family:
    """The kinds of one family, in display order (`Variant.position`).

    name: as in the catalogue; packages offer kinds by entry points of the group `millrace.<name>`. package: the package whose modules hold
    the kinds. base: the class that a kind of another package must derive from. methods: methods that such a kind must define, each with
    its purpose.
    """

    _all: ClassVar[WeakSet[Family]] = WeakSet()

    def __init__(self, name: str, package: str, base: type[Variant], methods: dict[str, str]):
        Family._all.add(self)
        self.name, self.base, self.methods = name, base, methods
        found = sorted(_kinds_below(package), key=lambda kind: (kind.position, kind_of(kind)))
        self.kinds: tuple[type[Variant], ...] = tuple(found)

    @property
    def union(self) -> Any:
        """The annotation of a field that takes any kind registered so far."""
        return Annotated[union_of(self.kinds), Field(discriminator="kind")]

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        """Validates any kind of the family."""
        return TypeAdapter(self.union)

    def kind(self, name: str) -> type[Variant] | None:
        return next((kind for kind in self.kinds if kind_of(kind) == name), None)

    def register(self, kind: type[Variant]) -> type[Variant]:
        """Register a kind of another package in documents, forms and the API. Raises ValueError if it is invalid."""
        if not (isinstance(kind, type) and issubclass(kind, self.base)):
            raise ValueError(f"{kind!r} is not a subclass of {self.base.__module__}.{self.base.__qualname__}")
        name, tag = f"{kind.__module__}.{kind.__qualname__}", kind_of(kind) if "kind" in kind.model_fields else ""
        if not KIND.fullmatch(tag):
            raise ValueError(
                f'the kind of {name} is {tag!r}; give it a field `kind: Literal["..."] = "..."` of lower-case letters, digits and \'_\', '
                "with a letter first and at most 63 characters"
            )
        if (known := self.kind(tag)) not in (None, kind):
            raise ValueError(f"the kind of {name} is '{tag}', which {known.__module__} already uses; choose another")
        if not getattr(kind, "title", "") or not kind.__dict__.get("__doc__"):
            raise ValueError(f"{name} needs a title and a docstring; forms show both")
        for field_name in _declared_elsewhere(kind):
            field = kind.model_fields[field_name]
            if field_name != "kind" and not field.description:
                raise ValueError(f"{name}: the parameter {field_name} needs a description; forms show it")
            extra = field.json_schema_extra
            if _is_quantity(field.annotation) and not (isinstance(extra, dict) and "x-unit" in extra):
                raise ValueError(f"{name}: the parameter {field_name} needs a unit; declare it with `quantity(..., unit=...)`")
        for method, purpose in self.methods.items():
            if getattr(kind, method, None) is getattr(self.base, method, None):
                raise ValueError(f"{name} has no method `{method}`; {purpose}")
        if known is None:
            self.offer((*self.kinds, kind))
        return kind

    def offer(self, kinds: tuple[type[Variant], ...]) -> None:
        """Allow exactly these kinds in documents. Rebuilds every model that takes the family's kinds."""
        before, self.kinds = set(self.kinds), kinds
        for family in Family._all:  # kinds of other families may hold kinds of this one
            family.__dict__.pop("adapter", None)
        models = _models()
        for model in models:
            for field in model.model_fields.values():
                field.annotation = _with_union(field.annotation, before, union_of(kinds))
        stale = _holding(models, set(kinds))
        for model in stale:
            for attribute in CACHED:
                if attribute in model.__dict__:
                    delattr(model, attribute)
        for model in stale:
            model.model_rebuild(force=True)


def union_of(kinds: tuple[type[Variant], ...]) -> Any:
    """The union of these models, known only at run time."""
    return Union[kinds]  # noqa: UP007


def kind_of(kind: type[Variant]) -> str:
    """The value of the `kind` field."""
    return str(kind.model_fields["kind"].default)


def implementation(kind: type[Any], package: str, name: str) -> Any:
    """Return the behaviour of a kind by name: an attribute of the kind itself, or of the module `<package>.<kind>`.

    Raises AttributeError or ModuleNotFoundError if one of our own kinds lacks it.
    """
    own = getattr(kind, name, None)
    return own if own is not None else getattr(importlib.import_module(f"{package}.{kind_of(kind)}"), name)


BROKEN: dict[str, str] = {}
"""Entry points of other packages that could not be loaded, with the reason."""


def load_entry_points(group: str, register: Callable[[Any], object]) -> None:
    """Register the entry points of other packages. One that fails is logged with its package and skipped."""
    for point in entry_points(group=group):
        try:
            register(point.load())
        except Exception as error:
            package = point.dist.name if point.dist is not None else point.value.partition(":")[0]
            BROKEN[f"{group}: {point.name}"] = f"package {package}: entry point '{point.name}' of {group} is skipped: {_reason(error)}"
            log.error("%s", BROKEN[f"{group}: {point.name}"])


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"


def _kinds_below(package: str) -> Iterator[type[Variant]]:
    """The classes with a `kind` defined in the modules of a package."""
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        found = importlib.import_module(f"{package}.{module.name}")
        for value in vars(found).values():
            own = isinstance(value, type) and issubclass(value, Variant) and value.__module__ == found.__name__
            if own and "kind" in value.model_fields:
                yield value


def _models() -> set[type[Model]]:
    """All subclasses of Model."""
    found: set[type[Model]] = set()
    todo: list[type[Model]] = [Model]
    while todo:
        for below in todo.pop().__subclasses__():
            if below not in found:
                found.add(below)
                todo.append(below)
    return found


def _holding(models: set[type[Model]], parts: set[Any]) -> set[type[Model]]:
    """The models with a field that contains one of these classes, directly or through another model."""
    names = {model: {name for field in model.model_fields.values() for name in _names(field.annotation)} for model in models}
    found: set[type[Model]] = set()
    while more := {model for model in models - found if names[model] & (parts | found)}:
        found |= more
    return found


def _names(annotation: Any) -> set[Any]:
    """The classes in an annotation."""
    if isinstance(annotation, type) and not get_args(annotation):
        return {annotation}
    return {name for argument in _arguments(annotation) for name in _names(argument)}


def _with_union(annotation: Any, before: set[type[Variant]], after: Any) -> Any:
    """The annotation with the union of the kinds `before` replaced by `after`, at any depth."""
    if get_origin(annotation) in (Union, UnionType) and set(get_args(annotation)) == before:
        return after
    arguments = _arguments(annotation)
    changed = tuple(_with_union(argument, before, after) for argument in arguments)
    if changed == arguments:
        return annotation
    if get_origin(annotation) is Annotated:
        return Annotated[changed[0], *get_args(annotation)[1:]]
    return union_of(changed) if get_origin(annotation) in (Union, UnionType) else get_origin(annotation)[changed]


def _arguments(annotation: Any) -> tuple[Any, ...]:
    """The type arguments of an annotation, without metadata and literals."""
    arguments = get_args(annotation)
    return arguments[:1] if get_origin(annotation) is Annotated else () if get_origin(annotation) is Literal else arguments


def _declared_elsewhere(kind: type[Variant]) -> list[str]:
    """The parameters that the kind does not inherit from a class of the engine."""
    elsewhere = [part for part in kind.__mro__ if not part.__module__.startswith("engine.")]
    declared = {name for part in elsewhere for name in inspect.get_annotations(part)}
    return [name for name in kind.model_fields if name in declared]


def _is_quantity(annotation: Any) -> bool:
    """Whether the annotation is a number, possibly optional."""
    if get_origin(annotation) in (Annotated, Union, UnionType):
        return any(_is_quantity(argument) for argument in _arguments(annotation))
    return annotation in (int, float)
