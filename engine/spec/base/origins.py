"""Where costs come from. Whatever a protocol, a policy or the hardware charges has an origin, as the prices of operators have
(`engine.prices`). A figure that rests on a cost fitted to it is calibrated, never reproduced (docs/figures.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.config import JsonDict

Origin = Literal["assumed", "measured", "published", "fitted"]
KEYWORD = "x-charge"


def check_origin(origin: Origin, fitted_to: tuple[str, ...]) -> None:
    """Raise ValueError if a cost is fitted to nothing, or is said to be fitted to something and is not."""
    if (origin == "fitted") != bool(fitted_to):
        raise ValueError(f"a price of origin '{origin}' has fitted_to = {fitted_to}; fitted prices, and only they, say to what")


@dataclass(frozen=True)
class Charge:
    """Origin of a cost that a document sets: of the default, not of what somebody else chose. fitted_to: figures, or other data."""

    origin: Origin
    note: str = ""
    fitted_to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_origin(self.origin, self.fitted_to)

    @property
    def keyword(self) -> JsonDict:
        """Extra keyword of the field in its JSON Schema."""
        return {KEYWORD: {**asdict(self), "fitted_to": list(self.fitted_to)}}

    @property
    def text(self) -> str:
        """A sentence for the field's description."""
        said = f"was fitted to {', '.join(self.fitted_to)}" if self.fitted_to else f"is {self.origin}"
        note = f" ({self.note})" if self.note else ""
        return f"The default {said}{note}."


ASSUMED = Charge("assumed")


def constant(value: int, origin: Origin, note: str = "") -> int:
    """A cost that no document sets. Fitted ones belong in documents, where figures find them."""
    if origin == "fitted":
        raise ValueError(f"{note or value}: a cost that was fitted must be a field with a Charge, so that figures name it")
    return value


def fitted_to(model: BaseModel) -> Iterator[str]:
    """Yield what costs in a model and below it were fitted to: those that have their default, and those that the document itself calls
    fitted (a field `fitted_to`)."""
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        extra = field.json_schema_extra
        charge: Any = extra.get(KEYWORD) if isinstance(extra, dict) else None
        if charge and value == field.default:
            yield from charge["fitted_to"]
        if name == "fitted_to":
            yield from value
        for below in _models_in(value):
            yield from fitted_to(below)


def _models_in(value: Any) -> Iterator[BaseModel]:
    if isinstance(value, BaseModel):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _models_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _models_in(each)
