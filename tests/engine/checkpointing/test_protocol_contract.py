"""What every protocol promises; and one from outside the package, in one file (tests/newcomers/checkpointing.py).

What this catches: a protocol that counts records otherwise than it promises, that frames, forms or snapshots leave out, or that takes an
experiment in which it cannot work; and a protocol of another package that the engine does not treat as one of ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal

import pytest

from engine.spec import validate
from engine.spec.base.family import kind_of
from engine.spec.base.variant import Variant
from engine.spec.experiment.checkpointing import CHECKPOINTINGS
from engine.spec.experiment.checkpointing.checkpoints import Checkpoints

from ...support.agreement import finished
from ...support.family_contracts import newcomer, offered
from ...support.protocol_contract import assert_protocol_contract
from ...support.recovery_examples import counting, example_of, loss, values, with_losses

MS = 10**6
GROWING = newcomer("checkpointing").GrowingIntervals
growing = example_of(GROWING)


@pytest.fixture
def from_outside() -> Iterator[None]:
    with offered(CHECKPOINTINGS, GROWING):
        yield


@pytest.mark.parametrize("kind", CHECKPOINTINGS.kinds, ids=kind_of)
def test_every_protocol_keeps_the_contract(kind: type[Variant], tmp_path: Path) -> None:
    assert_protocol_contract(kind, tmp_path)


@pytest.mark.usefixtures("from_outside")
def test_a_newcomer_keeps_the_contract(tmp_path: Path) -> None:
    assert_protocol_contract(GROWING, tmp_path)


@pytest.mark.usefixtures("from_outside")
def test_a_newcomer_does_what_is_its_own() -> None:
    """Intervals of 40, 80 and 160 ms: checkpoints after 40, 120 and 280 ms, of sixteen instances on four hosts."""
    document = counting(0.3, protocol=growing(interval_s=0.04, jitter_s=0, growth=2))
    simulation = finished(document)
    assert simulation.checkpointing is not None
    asked_ns = sorted({row[7] for row, _ in simulation.checkpointing["stored"]})
    assert asked_ns == [40 * MS, 120 * MS, 280 * MS]
    assert simulation.summary()["checkpointing"]["checkpoints"] == 3 * 16
    lost = finished(with_losses(document, [loss("w2", 0.2)]))
    assert max(lost.checkpointing["recoveries"][0]["line"]) == 2  # type: ignore[index]
    assert values(lost).keys() == values(simulation).keys()


@pytest.mark.usefixtures("from_outside")
def test_a_newcomer_refuses_in_its_own_words() -> None:
    (problem,) = validate(counting(0.3, protocol=growing(interval_s=0.04, growth=10)))
    assert (problem.pointer, problem.code, problem.value) == ("/policies/checkpointing/growth", "outside_run", 10)
    assert "there would be no second checkpoint" in problem.message


def test_a_protocol_that_builds_nothing_is_not_taken() -> None:
    class Idle(Checkpoints):
        """Builds nothing."""

        title: ClassVar[str] = "Idle"
        kind: Literal["idle"] = "idle"

    with pytest.raises(ValueError, match=r"has no method `build`; it returns the coordinator"):
        CHECKPOINTINGS.register(Idle)


def test_without_it_a_document_is_refused() -> None:
    (problem,) = validate(counting(0.3, protocol=growing()))
    assert problem.pointer == "/policies/checkpointing/kind"
