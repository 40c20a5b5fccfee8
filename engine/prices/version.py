"""The version of the engine together with the content of price lists. Runs that were charged other prices are other runs, even if nobody
thought of a new version."""

from __future__ import annotations

from engine.spec.base.version import ENGINE_VERSION

from .price import PriceList

CONTENTS = {
    "reference": "f8f08029",
    "checkmate_2024": "459cfe68",
    "klink_2020": "358e675e",
    "costream_2024": "bca01f60",
    "costream_2024_changed": "ba4c9ac1",
}
"""Digests of the price lists that belong to this version of the engine. A list of another package belongs to none."""


def version_of(lists: dict[str, PriceList], *names: str) -> str:
    """ENGINE_VERSION if these lists hold what belongs to it, else with their digests behind it: "17+checkmate_2024.3fa2c1d0". Unknown names
    count as unchanged."""
    changed = sorted(name for name in {*names} & lists.keys() if CONTENTS.get(name) != lists[name].digest)
    return "+".join([ENGINE_VERSION, *(f"{name}.{lists[name].digest}" for name in changed)])
