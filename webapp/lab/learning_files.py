"""What the files of corpora and models hold, as far as the API serves it (docs/web-api.md).

Folders may come from elsewhere. An import refuses files that do not fit; a listing treats them as missing, so that no folder can break it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal, NotRequired, TypeVar

from pydantic import Field, FiniteFloat, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from engine.costmodels.metrics import METRICS
from webapp.lib.described import EXACT

Cost = Literal["throughput", "processing_latency", "end_to_end_latency", "flows", "success"]


@EXACT
class Card(TypedDict):
    """Fields of `engine.corpus.corpora.Corpus`."""

    draw: str
    seed: int
    traces: Annotated[int, Field(ge=1, le=10_000_000)]
    measured_by: str
    per_part: Annotated[int, Field(ge=1)]


class LabelSpread(TypedDict):
    """How labels are spread. failures: number of traces by cause. backpressured: of those that succeeded. spans: least, median and
    greatest value of each cost."""

    traces: int
    succeeded: int
    failures: dict[str, int]
    backpressured: int
    spans: dict[str, list[FiniteFloat]]
    digest: str


class EpochShape(TypedDict):
    """validation: median q-error, or share of wrong classes."""

    number: int
    loss: FiniteFloat
    validation: FiniteFloat
    best: bool


class WorthShape(TypedDict):
    """What predictors of one cost are worth on the test. off: by predictor, q50 and q95, or accuracy, and more. points: pairs of what was
    measured and what the network predicts."""

    metric: Cost
    traces: dict[str, int]
    off: dict[str, dict[str, FiniteFloat | bool | None]]
    points: NotRequired[list[list[FiniteFloat]]]


class Facts(TypedDict, total=False):
    """Where a model comes from."""

    corpus: str
    traces: int
    measured_by: str


class Choice(TypedDict):
    """The default models."""

    name: str


CARD_SHAPE: Final = TypeAdapter(Card)
BALANCE_SHAPE: Final = TypeAdapter(LabelSpread)
REPORT_SHAPE: Final = TypeAdapter(list[WorthShape])
EPOCHS_SHAPE: Final = TypeAdapter(list[EpochShape])
PROGRESS_SHAPE: Final = TypeAdapter(dict[Annotated[str, Field(pattern=rf"^({'|'.join(METRICS)})-\d{{1,18}}$")], list[EpochShape]])
FACTS_SHAPE: Final = TypeAdapter(Facts)
CHOICE_SHAPE: Final = TypeAdapter(Choice)


T = TypeVar("T")


class Unfit(ValueError):
    """A file, or a part of one, does not have its shape; the message says where."""


def read(file: Path, shape: TypeAdapter[T]) -> T:
    """Raises Unfit."""
    try:
        return shape.validate_json(file.read_bytes(), strict=True)
    except OSError as error:
        raise Unfit(f"{file.name} cannot be read ({error.strerror})") from None
    except ValidationError as error:
        raise Unfit(_first(file.name, error)) from None


def fitted(name: str, value: Any, shape: TypeAdapter[T]) -> T:
    """A part of a file that was read already. Raises Unfit."""
    try:
        return shape.validate_python(value, strict=True)
    except ValidationError as error:
        raise Unfit(_first(name, error)) from None


def _first(name: str, error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{name}{where and f' at {where}'}: {first['msg']}"
