"""The oracle: docs/event-core.md as a slow, obvious model on SimPy, against which the fast engine is held."""

from .model import Delivery, OracleResult, simulate

__all__ = ["Delivery", "OracleResult", "simulate"]
