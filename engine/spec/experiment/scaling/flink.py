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
    about["description"] = about["description"].removesuffix(".") + "; not given: the preset's."
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
    """All options of Flink's autoscaler that have a meaning here; seconds, shares and numbers of instances."""

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
        """Utilisation above which a vertex is scaled up. Source: target + 0.3, if not given."""
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
"""What is other than Flink's defaults. Tuned ones were tried on the study's own panels and kept because they did well there."""


class Flink(Looped):
    """Flink's own autoscaler: as DS2 from true rates, with a band around a target utilisation, and with terms for the backlog and for the
    time that a restart takes.
    """

    title: ClassVar[str] = "Flink's autoscaler"
    source: ClassVar[str] = "Apache Flink Kubernetes Operator"
    position: ClassVar[int] = 8
    kind: Literal["flink"] = "flink"
    preset: Literal["default", "tuned", "tuned07"] = Field(
        default="default", title="Preset", description="Of the options that are not given. Tuned ones did well with the study's loads."
    )
    cooldown_s: Number = quiet_field(0)
    step_max: Integer | None = free_step_field()
    stabilization_s: Number | None = _seconds("Stabilisation", "After a restart metrics do not count for so long")
    window_s: Number | None = _seconds("Window", "Span over which rates are taken", 0.001)
    utilization_target: Number | None = _share("Target", "Share of time that instances should be busy")
    utilization_max: Number | None = _share("Up above", "Utilisation beyond which a vertex is scaled up, target + 0.3 if no preset says")
    utilization_min: Number | None = _share("Down below", "Utilisation below which a vertex is scaled down, target - 0.3 if no preset says")
    scale_down_interval_s: Number | None = _seconds("Scale down after", "The greatest parallelism wished within this span counts")
    scale_down_factor_max: Number | None = _share("Down by", "Share of instances that are taken away at a time, at most")
    scale_up_factor_max: Number | None = _share("Up by", "So many times the instances are added at a time, at most", 1e9)
    catch_up_s: Number | None = _seconds("Catch up", "A backlog should be gone after so long; 0: it does not count")
    restart_s: Number | None = _seconds("Restart", "How long it takes a restart to be over, as far as is known")
    restart_tracking: bool | None = _switch("Track restarts", "Whether the longest restart that was seen takes its place")
    restart_limit_s: Number | None = _seconds("Restart at most", "A restart that was seen counts for no more")
    backlog_lag_s: Number | None = _seconds("Backlog", "With more input than of so long waiting nothing is scaled down")
    observed_lag_s: Number | None = _seconds("Observed rates", "With input of so long waiting a source's own rate is its true one")
    observations_min: Integer | None = _count("samples", "Observations", "So many of them at least")
    switch_threshold: Number | None = _share("Switch", "If the rate by busy time is larger by more than this share", 1e6)
    busy_aggregator: Literal["max", "mean", "min"] | None = _switch("Busy time", "Which instance of a vertex counts")
    parallelism_min: Integer | None = _count("instances", "Least", "Least parallelism of a vertex")
    parallelism_max: Integer | None = _count("instances", "Most", "Greatest parallelism of a vertex")
    effectiveness_detection: bool | None = _switch("Block what has no effect", "Whether a vertex that gained nothing is scaled up again")
    effectiveness_threshold: Number | None = _share("Effect", "Share of the expected gain that counts as an effect")
    history_max: Integer | None = _count("actions", "History", "So many actions on a vertex are remembered")
    history_age_s: Number | None = _seconds("Age of history", "Older actions are forgotten")
    observed_scalability: bool | None = _switch("Observe scaling", "Whether it is learned how far capacity grows with instances")
    scalability_min: Number | None = _share("Scales at least", "A lower coefficient is not believed")
    scalability_observations: Integer | None = _count("actions", "Seen at least", "So many actions are needed for it")
    alignment: Literal["balanced", "none"] | None = _switch("Alignment", "Whether instances should have equally many key groups")
    beyond_workers: Literal["fit", "veto"] | None = _switch(
        "Too many workers", "A wish beyond the workers is scaled to fit, or not carried out"
    )

    @property
    def options(self) -> FlinkOptions:
        """All of them: what is given, then the preset's, then the defaults."""
        given = {name: value for name in FlinkOptions.model_fields if (value := getattr(self, name)) is not None}
        return FlinkOptions(**{**FLINK_PRESETS[self.preset], **given})

    @property
    def vetoes_beyond_workers(self) -> bool:
        return self.options.beyond_workers == "veto"

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        options = self.options
        if options.utilization_target <= 0:
            message = "utilization_target is 0, for which no parallelism would be enough; it must be more"
            raise Refusal(message, at=("utilization_target",), code="out_of_range", value=options.utilization_target)
        lower, target, upper = options.utilization_lower, options.utilization_target, options.utilization_upper
        if not lower < target < upper:
            at = "utilization_min" if lower >= target else "utilization_max"
            value = lower if lower >= target else upper
            word = "below" if lower >= target else "above"
            message = f"{at} is {value:g}, and the target is {target:g}; it must be {word} it"
            raise Refusal(message, at=(at,), code="out_of_range", value=value)
        if options.parallelism_min > options.parallelism_max:
            most = options.parallelism_max
            message = f"parallelism_max is {most}, less than parallelism_min, {options.parallelism_min}; it must be at least as large"
            raise Refusal(message, at=("parallelism_max",), code="out_of_range", value=most)
        return self

    @model_validator(mode="after")
    def _windows_have_two_samples(self) -> Self:
        """It takes one in each iteration."""
        window_s = self.options.window_s
        if window_s < self.every_s:
            message = f"window_s is {window_s:g}, less than every_s, {self.every_s:g}, so that nothing would ever be decided"
            raise Refusal(f"{message}; it must be at least as long", at=("window_s",), code="out_of_range", value=window_s)
        return self
