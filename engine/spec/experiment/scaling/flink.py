"""Parameters of the autoscaler `flink`, with Flink's defaults and our presets."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.operator import Model
from ...base.problems import Refusal
from ...base.units import Integer, Number, quantity
from .base import PARALLELISM_MAX
from .looped import Looped, free_step_field, quiet_field


def _of_preset(unit: str = "", **about: Any) -> Any:
    about["description"] = about["description"].removesuffix(".") + ". Default: the preset's."
    return quantity(None, unit=unit, **about) if unit else Field(default=None, **about)


def _seconds(title: str, description: str, least: float = 0) -> Any:
    return _of_preset("s", ge=least, le=1e8, title=title, description=description)


def _share(title: str, description: str, most: float = 1) -> Any:
    return _of_preset(ge=0, le=most, title=title, description=description)


def _count(unit: str, title: str, description: str) -> Any:
    return _of_preset(unit, ge=1, le=PARALLELISM_MAX, title=title, description=description)


def _switch(title: str, description: str) -> Any:
    return _of_preset(title=title, description=description)


class FlinkOptions(Model):
    """All options of Flink's autoscaler that apply here; in seconds, shares and numbers of instances."""

    stabilization_s: float = 300
    window_s: float = 900
    utilization_target: float = 0.7
    utilization_max: float | None = None
    utilization_min: float | None = None
    scale_down_interval_s: float = 3600
    scale_down_factor_max: float = 0.6
    scale_up_factor_max: float = 100_000
    catch_up_s: float = 1800
    restart_s: float = 300
    restart_tracking: bool = False
    restart_limit_s: float = 900
    backlog_lag_s: float = 300
    observed_lag_s: float = 30
    observations_min: int = 2
    switch_threshold: float = 0.15
    busy_aggregator: Literal["max", "mean", "min"] = "max"
    parallelism_min: int = 1
    parallelism_max: int = 200
    effectiveness_detection: bool = False
    effectiveness_threshold: float = 0.1
    history_max: int = 3
    history_age_s: float = 86_400
    observed_scalability: bool = False
    scalability_min: float = 0.5
    scalability_observations: int = 3
    alignment: Literal["balanced", "none"] = "balanced"
    beyond_workers: Literal["fit", "veto"] = "fit"

    @property
    def utilization_upper(self) -> float:
        """Utilisation above which a vertex is scaled up. Default: target + 0.3, as in Flink."""
        return float(f"{self.utilization_target + 0.3:.12g}") if self.utilization_max is None else self.utilization_max

    @property
    def utilization_lower(self) -> float:
        return float(f"{self.utilization_target - 0.3:.12g}") if self.utilization_min is None else self.utilization_min


QUICK = {"restart_s": 60, "scale_down_interval_s": 300, "parallelism_max": 70}


BAND = {"utilization_target": 0.6, "utilization_max": 0.8, "utilization_min": 0.4}


FLINK_PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "tuned": {**QUICK, **BAND, "window_s": 120, "stabilization_s": 30, "catch_up_s": 300},
    "tuned07": {**QUICK, "window_s": 180, "stabilization_s": 60, "catch_up_s": 600},
}
"""Differences from Flink's defaults. The tuned presets were chosen because they did well on the study's own panels."""


class Flink(Looped):
    """Flink's own autoscaler. Like DS2 it uses true rates, with a band around a target utilisation and extra capacity for the backlog and
    the restart time.
    """

    title: ClassVar[str] = "Flink's autoscaler"
    source: ClassVar[str] = "Apache Flink Kubernetes Operator"
    position: ClassVar[int] = 8
    kind: Literal["flink"] = "flink"
    preset: Literal["default", "tuned", "tuned07"] = Field(
        default="default",
        title="Preset",
        description="Values of options that are not set. The tuned presets did well with the study's loads.",
    )
    cooldown_s: Number = quiet_field(0)
    step_max: Integer | None = free_step_field()
    stabilization_s: Number | None = _seconds("Stabilisation", "Time after a restart during which metrics are ignored")
    window_s: Number | None = _seconds("Window", "Span over which rates are measured", 0.001)
    utilization_target: Number | None = _share("Target", "Target share of busy time")
    utilization_max: Number | None = _share(
        "Up above", "Utilisation above which a vertex is scaled up; target + 0.3 if the preset sets none"
    )
    utilization_min: Number | None = _share(
        "Down below", "Utilisation below which a vertex is scaled down; target - 0.3 if the preset sets none"
    )
    scale_down_interval_s: Number | None = _seconds("Scale down after", "Span whose highest desired parallelism limits scaling down")
    scale_down_factor_max: Number | None = _share("Down by", "Largest share of instances removed at a time")
    scale_up_factor_max: Number | None = _share(
        "Up by", "Largest number of instances added at a time, as a multiple of the current ones", 1e9
    )
    catch_up_s: Number | None = _seconds("Catch up", "Time within which a backlog should be processed; 0: ignore the backlog")
    restart_s: Number | None = _seconds("Restart", "Expected restart time")
    restart_tracking: bool | None = _switch("Track restarts", "Use the longest restart observed instead of the expected one")
    restart_limit_s: Number | None = _seconds("Restart at most", "Upper limit of an observed restart time")
    backlog_lag_s: Number | None = _seconds("Backlog", "Backlog, as time of input, above which nothing is scaled down")
    observed_lag_s: Number | None = _seconds(
        "Observed rates", "Backlog, as time of input, from which a source's observed rate is its true rate"
    )
    observations_min: Integer | None = _count("samples", "Observations", "Minimum number of observed rates")
    switch_threshold: Number | None = _share(
        "Switch", "Use the observed rate if the busy-time rate exceeds it by more than this share", 1e6
    )
    busy_aggregator: Literal["max", "mean", "min"] | None = _switch(
        "Busy time", "How the busy times of a vertex's instances are aggregated"
    )
    parallelism_min: Integer | None = _count("instances", "Minimum", "Lowest parallelism of a vertex")
    parallelism_max: Integer | None = _count("instances", "Maximum", "Highest parallelism of a vertex")
    effectiveness_detection: bool | None = _switch("Detect ineffective scaling", "Block further scale-ups of a vertex that gained nothing")
    effectiveness_threshold: Number | None = _share("Effect", "Share of the expected gain from which a scale-up counts as effective")
    history_max: Integer | None = _count("actions", "History", "Number of actions remembered per vertex")
    history_age_s: Number | None = _seconds("Age of history", "Age at which actions are forgotten")
    observed_scalability: bool | None = _switch("Observe scaling", "Learn how capacity grows with the number of instances")
    scalability_min: Number | None = _share("Scalability at least", "Lower bound of the learned coefficient")
    scalability_observations: Integer | None = _count("actions", "Scalability observations", "Minimum number of actions to learn from")
    alignment: Literal["balanced", "none"] | None = _switch("Alignment", "Balance key groups over the instances (balanced), or not (none)")
    beyond_workers: Literal["fit", "veto"] | None = _switch(
        "Too many instances", "Scale a decision beyond the available instances to fit, or veto it"
    )

    @property
    def options(self) -> FlinkOptions:
        """All options: the given values, then the preset's, then the defaults."""
        given = {name: value for name in FlinkOptions.model_fields if (value := getattr(self, name)) is not None}
        return FlinkOptions(**{**FLINK_PRESETS[self.preset], **given})

    @property
    def vetoes_beyond_workers(self) -> bool:
        return self.options.beyond_workers == "veto"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        options = self.options
        if options.utilization_target <= 0:
            message = "utilization_target is 0, so no parallelism would be enough; it must be above 0"
            raise Refusal(message, at=("utilization_target",), code="out_of_range", value=options.utilization_target)
        lower, target, upper = options.utilization_lower, options.utilization_target, options.utilization_upper
        if not lower < target < upper:
            at = "utilization_min" if lower >= target else "utilization_max"
            value = lower if lower >= target else upper
            word = "below" if lower >= target else "above"
            message = f"{at} is {value:g}, but the target is {target:g}; it must be {word} the target"
            raise Refusal(message, at=(at,), code="out_of_range", value=value)
        if options.parallelism_min > options.parallelism_max:
            most = options.parallelism_max
            message = f"parallelism_max is {most}, below parallelism_min ({options.parallelism_min}); it must be at least parallelism_min"
            raise Refusal(message, at=("parallelism_max",), code="out_of_range", value=most)
        return self

    @model_validator(mode="after")
    def _windows_have_two_samples(self) -> Self:
        """Each iteration takes one sample."""
        window_s = self.options.window_s
        if window_s < self.every_s:
            message = f"window_s is {window_s:g}, below every_s ({self.every_s:g}), so no window would be complete when a decision is due"
            raise Refusal(f"{message}; it must be at least every_s", at=("window_s",), code="out_of_range", value=window_s)
        return self
