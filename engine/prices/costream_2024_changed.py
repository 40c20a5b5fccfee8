"""Costream's prices on another engine: what models that learned from the usual ones are worth there (specification of Costream, 9.7)."""

from __future__ import annotations

from dataclasses import replace

from .costream_2024 import PRICES as USUAL

_USUAL = USUAL.values

PRICES = replace(
    USUAL,
    name="costream_2024_changed",
    title="Costream 2024, changed",
    doc="As Costream 2024, but comparing strings and serialising take twice as long: another engine, which no model has learned from.",
    source="",
    position=4,
    values=replace(
        _USUAL,
        sent_ps=2 * _USUAL.sent_ps,
        received_ps=2 * _USUAL.received_ps,
        compared_ps={**_USUAL.compared_ps, "string": 2 * _USUAL.compared_ps["string"]},
    ),
)
