"""Who changes the parallelism of a running query, from what, and how that is carried out (docs/autoscaling.md).

What the policies do stands in `engine.autoscaling`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number, quantity, seconds_ns
from ..base.variant import Variant
from .checkpointing.store import Store

BY_OPERATOR: JsonDict = {"x-keys": "operator"}
"""The names of the entries are ids of operators: forms offer them."""

PARALLELISM_MAX = 32_768
"""As many as key groups and partitions can be."""


class Bounds(Model):
    """How far an operator may be scaled. Of operators that forward edges connect the tightest bounds hold."""

    min: Integer = quantity(1, unit="instances", ge=1, le=PARALLELISM_MAX, title="Least", description="Least parallelism.")
    max: Integer | None = quantity(
        None,
        unit="instances",
        ge=1,
        le=PARALLELISM_MAX,
        title="Most",
        description="Greatest parallelism; not given: as many as there are workers, key groups or partitions.",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.max is not None and self.max < self.min:
            message = f"max is {self.max}, less than min, {self.min}; it must be at least as large"
            raise Refusal(message, at=("max",), code="out_of_range", value=self.max)
        return self


class Order(Model):
    """A wish for other parallelisms, at a time of the run."""

    at_s: Number = quantity(unit="s", gt=0, le=1e9, title="At", description="Virtual time; before the end of the run's horizon.")
    parallelism: dict[str, Annotated[Integer, Field(ge=1, le=PARALLELISM_MAX)]] = Field(
        min_length=1, title="Parallelism", description="By operator; those that are not named keep theirs.", json_schema_extra=BY_OPERATOR
    )


# How a rescale is carried out


class SavepointStore(Store):
    """The store of savepoints: slower than that of checkpoints, unless a document says otherwise."""

    write_mb_per_s: Number = quantity(200, unit="MB/s", ge=0.1, le=1e6, title="Writes", description="Of all workers together.")
    read_mb_per_s: Number = quantity(200, unit="MB/s", ge=0.1, le=1e6, title="Reads", description="Of all workers together.")


class Rescaling(Variant):
    """What all ways of rescaling have in common."""

    pod_start_s: Number = quantity(
        10, unit="s", ge=0, le=1e6, title="Start of pods", description="How long new workers take, where there are more than before."
    )
    timeout_s: Number = quantity(
        600, unit="s", ge=0.001, le=1e8, title="Give up after", description="A savepoint that is not complete by then is given up."
    )
    store: SavepointStore = Field(
        default=SavepointStore(),
        title="Store",
        description="Where savepoints are kept; with coordinated checkpoints theirs is used.",
    )


class StopAndRestart(Rescaling):
    """Sources stop, what is under way is served, and a savepoint is taken; then the job is deleted, and begins anew from it with other
    parallelisms. Topics fill meanwhile.
    """

    title: ClassVar[str] = "Stop and restart"
    source: ClassVar[str] = "Siachamis 2024, 4.3"
    kind: Literal["stop_and_restart"] = "stop_and_restart"
    restart_s: Number = quantity(
        30, unit="s", ge=0, le=1e6, title="Restart", description="From the complete savepoint until the new job begins to fetch it."
    )


class InPlace(Rescaling):
    """Only operators that change stop, and those that send to them; state moves from the old owners of its key groups to the new ones."""

    title: ClassVar[str] = "In place"
    kind: Literal["in_place"] = "in_place"
    switch_s: Number = quantity(
        1, unit="s", ge=0, le=1e6, title="Switch", description="From the moment at which all state is stored until it is fetched."
    )


AnyRescaling = Annotated[StopAndRestart | InPlace, Field(discriminator="kind")]


# Metrics


class MetricTimes(Model):
    """How often metrics are read, and over which spans."""

    scrape_s: Number = quantity(5, unit="s", ge=0.001, le=1e6, title="Scrape", description="From one reading of all gauges to the next.")
    window_s: Number = quantity(
        15, unit="s", ge=0.002, le=1e6, title="Window", description="Span over which policies take means and rates; whole scrapes."
    )
    meter_s: Number = quantity(
        60,
        unit="s",
        ge=0.001,
        le=1e6,
        title="Meter",
        description="Span over which an instance reports its records out per second; whole scrapes.",
    )
    pending_floor_s: Number = quantity(
        0.25, unit="s", ge=0, le=1e6, title="No queue below", description="A topic with less than so much input waiting reports none."
    )
    blocked_floor_ms: Number = quantity(
        20,
        unit="ms/s",
        ge=0,
        le=1000,
        title="Not blocked below",
        description="An instance that was blocked for less reports no backpressure.",
    )

    @model_validator(mode="after")
    def _whole_scrapes(self) -> Self:
        scrape_ns = seconds_ns(self.scrape_s)
        for name, seconds, scrapes in (("window_s", self.window_s, 2), ("meter_s", self.meter_s, 1)):
            if seconds_ns(seconds) % scrape_ns or seconds_ns(seconds) < scrapes * scrape_ns:
                message = f"{name} is {seconds:g}, and a scrape takes place each scrape_s, {self.scrape_s:g}; it must be a multiple of it"
                raise Refusal(message + (", at least twice as long" if scrapes > 1 else ""), at=(name,), code="out_of_range", value=seconds)
        return self


# Who decides


class NoScaling(Variant):
    """The parallelism stays as it is in the query."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"
    facts: ClassVar[tuple[str, ...]] = ("decides_live",)
    decides_live: ClassVar[bool] = False


class Scaling(Variant):
    """What all that change the parallelism have in common."""

    facts: ClassVar[tuple[str, ...]] = ("decides_live",)
    decides_live: ClassVar[bool] = False  # whether it is asked again and again during the run
    workers_max: Integer = quantity(
        70, unit="workers", ge=1, le=PARALLELISM_MAX, title="Workers", description="So many instances may be active at a time."
    )
    operators: dict[str, Bounds] = Field(
        default_factory=dict, title="Bounds", description="By operator; the others may have 1 and more.", json_schema_extra=BY_OPERATOR
    )
    rescaling: AnyRescaling = Field(default=StopAndRestart(), title="Rescaling", description="How an order is carried out.")
    orders: tuple[Order, ...] = Field(
        default=(), max_length=10_000, title="Orders", description="Rescales at given times, whatever a policy decides."
    )
    slo_s: Number = quantity(5, unit="s", gt=0, le=1e6, title="Objective", description="Records should not wait in topics for longer.")
    capture_ms: Number = quantity(
        1,
        unit="ms",
        ge=0,
        le=1e6,
        title="Capture",
        description="Work of the processor for the savepoint of an instance; with coordinated checkpoints theirs is taken.",
    )
    serialise_mb_per_s: Number = quantity(
        30,
        unit="MB/s",
        ge=0.001,
        le=1e6,
        title="Serialisation",
        description="State that a core of speed 1 writes or reads; with coordinated checkpoints theirs is taken.",
    )

    @model_validator(mode="after")
    def _orders_at_different_times(self) -> Self:
        times = [seconds_ns(order.at_s) for order in self.orders]
        for n, order in enumerate(self.orders):
            if times[n] in times[:n]:
                message = f"at_s is {order.at_s:g} in two orders; name all operators of one moment in one order"
                raise Refusal(message, at=("orders", n, "at_s"), code="duplicate", value=order.at_s)
        return self


class Manual(Scaling):
    """Nobody decides: orders are carried out at their times."""

    title: ClassVar[str] = "By hand"
    kind: Literal["manual"] = "manual"


class Fixed(Scaling):
    """The same parallelism for the whole run: the one in the query, or the least that carries a load which is known beforehand."""

    model_config = ConfigDict(populate_by_name=True)

    title: ClassVar[str] = "Fixed"
    source: ClassVar[str] = "Siachamis 2024, 1.3 (Figure 1.7)"
    kind: Literal["fixed"] = "fixed"
    for_: Literal["document", "maximum", "mean"] = Field(
        default="document", alias="for", title="For", description="As in the query; or enough for the load's maximum, or its mean."
    )
    headroom: Number = Field(default=1.1, ge=0.01, le=100, title="Headroom", description="Capacity for so many times that load.")
    per_input: dict[str, Annotated[Number, Field(ge=0, le=1e6)]] = Field(
        default_factory=dict,
        title="Per input",
        description="Records that each operator serves for each record of the sources.",
        json_schema_extra=BY_OPERATOR,
    )

    @model_validator(mode="after")
    def _knows_what_operators_serve(self) -> Self:
        if self.for_ != "document" and not self.per_input:
            raise _without_shares(f"the least parallelism for the {self.for_} of the load")
        return self


class Oracle(Scaling):
    """Knows the load beforehand, and what its own rescales cost: it divides the run into segments of whole minutes, each with one
    parallelism that carries the segment's load and makes up for its own outage, so that workers and actions are cheapest.
    """

    title: ClassVar[str] = "Oracle"
    kind: Literal["oracle"] = "oracle"
    drain_s: Number | None = quantity(
        300,
        unit="s",
        gt=0,
        le=1e8,
        title="Made up within",
        description="What came in an outage is served within this time; not given: never.",
    )
    action_cost_worker_s: Number = quantity(
        0, unit="worker s", ge=0, le=1e9, title="Cost of an action", description="What a rescale counts for, beside the workers."
    )
    headroom: Number = Field(
        default=1.0,
        ge=0.01,
        le=100,
        title="Headroom",
        description="Capacity for so many times the load: for what it does not know, such as noise and channels that hold few records.",
    )
    per_input: dict[str, Annotated[Number, Field(ge=0, le=1e6)]] = Field(
        default_factory=dict,
        title="Per input",
        description="Records that each operator serves for each record of the sources.",
        json_schema_extra=BY_OPERATOR,
    )

    @model_validator(mode="after")
    def _knows_what_operators_serve(self) -> Self:
        if not self.per_input:
            raise _without_shares("what carries a load")
        return self


def _without_shares(what: str) -> Refusal:
    message = f"per_input is empty, and {what} follows from it; give for each operator"
    return Refusal(f"{message} how many records it serves for each record of the sources", at=("per_input",), code="missing")


class Looped(Scaling):
    """A policy that is asked again and again, and orders what it wants if that is not what runs."""

    decides_live: ClassVar[bool] = True
    start_s: Number = quantity(120, unit="s", ge=0, le=1e8, title="Begin after", description="Time before the first iteration begins.")
    every_s: Number = quantity(15, unit="s", ge=0.001, le=1e6, title="Iteration", description="From one iteration to the next.")
    cooldown_s: Number = quantity(
        300, unit="s", ge=0, le=1e8, title="Cooldown", description="After the call that orders a rescale: no iteration takes place."
    )
    call_s: Number = quantity(8, unit="s", ge=0, le=1e6, title="Call", description="How long the call lasts that orders a rescale.")
    step_max: Integer | None = quantity(
        15,
        unit="instances",
        ge=1,
        le=PARALLELISM_MAX,
        title="Step",
        description="So many instances more at a time for each operator, at most; not given: any number.",
    )
    metrics: MetricTimes = Field(default=MetricTimes(), title="Metrics", description="What the policy reads is measured so.")

    @model_validator(mode="after")
    def _iterations_see_new_metrics(self) -> Self:
        scrape_s = self.metrics.scrape_s
        if seconds_ns(self.every_s) % seconds_ns(scrape_s):
            message = f"every_s is {self.every_s:g}; it must be a multiple of scrape_s, {scrape_s:g}"
            raise Refusal(f"{message}, so that each iteration sees new metrics", at=("every_s",), code="out_of_range", value=self.every_s)
        return self


PendingRate = Literal["counter_reset", "signed"]


def pending_rate_field() -> Any:
    """How the growth of a queue is taken from readings of its length."""
    description = "As the growth of a counter, for which a queue that drains seems to grow fast (so the artifact has it); or with its sign."
    return Field(default="counter_reset", title="Growth of queues", description=description)


def growth_field(default: float) -> Any:
    description = "A source whose queue grows faster is a bottleneck."
    return quantity(default, unit="records/s", ge=0, le=1e12, title="Growing queue", description=description)


def target_field(default: float, description: str) -> Any:
    return Field(default=default, gt=0, le=1, title="Target", description=description)


def stabilise_field() -> Any:
    description = "The greatest parallelism wished within this span counts: up at once, down with delay."
    return quantity(300, unit="s", ge=0, le=1e8, title="Stabilisation", description=description)


def quiet_field(default: float) -> Any:
    """Of those whose original waits otherwise than the study's loop."""
    description = "After the call that orders a rescale: no iteration takes place."
    return quantity(default, unit="s", ge=0, le=1e8, title="Cooldown", description=description)


def free_step_field() -> Any:
    """Of those whose original knows no greatest step."""
    description = "So many instances more at a time for each operator, at most; not given: any number."
    return quantity(None, unit="instances", ge=1, le=PARALLELISM_MAX, title="Step", description=description)


def slope_field() -> Any:
    return quantity(60, unit="s", ge=0.001, le=1e6, title="Slope", description="The growth of a queue is taken over this span.")


def refuse_unknown_slopes(slope_s: float, scrape_s: float) -> None:
    """Of a span with one reading there is no slope, and every iteration in which it counts would be left out. Raises Refusal."""
    if slope_s < scrape_s:
        message = f"slope_s is {slope_s:g}, less than scrape_s, {scrape_s:g}, so that no growth would ever be known"
        raise Refusal(f"{message}; it must be at least as long", at=("slope_s",), code="out_of_range", value=slope_s)


class Dhalion(Looped):
    """Scales up operators behind backpressure, by as much as their senders were blocked; without a bottleneck it scales down all that have
    nearly nothing waiting.
    """

    title: ClassVar[str] = "Dhalion"
    source: ClassVar[str] = "Floratou 2017; Siachamis 2024, 4.4.1, Eq. 4.1 and 4.2"
    kind: Literal["dhalion"] = "dhalion"
    backpressure_theta_per_s: Number = growth_field(1000)
    pending_rate: PendingRate = pending_rate_field()
    first_only: bool = Field(default=False, title="One at a time", description="Of several bottlenecks only the first one is scaled up.")
    source_empty: Literal["rate", "lag"] = Field(
        default="rate", title="Source without load", description="Its queue grows slowly enough (the artifact), or is short enough."
    )
    empty_lag: Number = quantity(
        10_000,
        unit="records",
        ge=0,
        le=1e12,
        title="Slow or short enough",
        description="Records per second, or records, by the field before.",
    )
    empty_fill: Number = Field(
        default=0.2, ge=0, le=1, title="Empty below", description="Share of its input buffers; with no more an operator is scaled down."
    )
    keep: Number = Field(default=0.8, gt=0, lt=1, title="Keep", description="Scaling down leaves so many of an operator's instances.")
    beta_max: Number = Field(
        default=0.9, gt=0, lt=1, title="Blocked at most", description="Senders count as blocked for no larger share of the time."
    )


class DS2(Looped):
    """Sets all operators at once, from the rates that they would have if they were never idle."""

    title: ClassVar[str] = "DS2"
    source: ClassVar[str] = "Kalavri 2018; Siachamis 2024, 4.4.2, Eq. 4.3"
    kind: Literal["ds2"] = "ds2"
    over_provisioning: Number = Field(
        default=1.2, ge=1, le=100, title="Over-provisioning", description="Times what it finds, rounded up once more."
    )
    busy_max: Number = Field(
        default=1.0, gt=0, le=1, title="Busy at most", description="Share of time that an instance with enough to do reports as busy."
    )


class HPACpu(Looped):
    """Keeps the CPU load of each operator near a target; knows nothing of streams."""

    title: ClassVar[str] = "HPA on CPU"
    source: ClassVar[str] = "Kubernetes; Siachamis 2024, 4.4.3, Eq. 4.4"
    kind: Literal["hpa_cpu"] = "hpa_cpu"
    target: Number = target_field(0.7, "Share of its CPU that a worker should use.")
    stabilise_s: Number = stabilise_field()


class HPAVarga(Looped):
    """Keeps the time in which instances are not idle near a target, and bottlenecks at the rate of what comes."""

    title: ClassVar[str] = "HPA, Varga"
    source: ClassVar[str] = "Varga 2021; Siachamis 2024, 4.4.4, Eq. 4.5 and 4.6"
    kind: Literal["hpa_varga"] = "hpa_varga"
    target: Number = target_field(0.7, "Share of time in which an instance should not be idle.")
    backpressure_theta_per_s: Number = growth_field(10_000)
    pending_rate: PendingRate = pending_rate_field()
    lag_threshold: Integer | None = quantity(
        None,
        unit="records",
        ge=0,
        le=10**12,
        title="Short queues",
        description="With fewer records waiting the growth of queues does not count; not given: it always does.",
    )
    stabilise_s: Number = stabilise_field()
    slope_s: Number = slope_field()

    @model_validator(mode="after")
    def _slopes_are_known(self) -> Self:
        refuse_unknown_slopes(self.slope_s, self.metrics.scrape_s)
        return self


# As their authors had them


class DhalionHeron(Looped):
    """Dhalion as it runs in Heron: one operator at a time is scaled up, by how long its senders were blocked, all instances together;
    nothing is ever scaled down.
    """

    title: ClassVar[str] = "Dhalion, Heron"
    source: ClassVar[str] = "Floratou 2017; Apache Heron, health manager"
    kind: Literal["dhalion_heron"] = "dhalion_heron"
    every_s: Number = quantity(60, unit="s", ge=0.001, le=1e6, title="Iteration", description="Blocked time is summed over it, too.")
    cooldown_s: Number = quiet_field(180)
    step_max: Integer | None = free_step_field()
    factor_max: Number = Field(
        default=4, gt=0, le=1000, title="Up by", description="So many times the instances are added at a time, at most."
    )


class DS2Original(Looped):
    """DS2 as its authors published it: rates over an interval, no action for small changes, sources stay as they are."""

    title: ClassVar[str] = "DS2, original"
    source: ClassVar[str] = "Kalavri 2018; DS2's scaling manager"
    kind: Literal["ds2_original"] = "ds2_original"
    every_s: Number = quantity(10, unit="s", ge=0.001, le=1e6, title="Interval", description="Rates are taken over it, too.")
    cooldown_s: Number = quiet_field(0)
    step_max: Integer | None = free_step_field()
    warm_up: Integer = quantity(
        2, unit="intervals", ge=0, le=1_000_000, title="Warm-up", description="Intervals behind a restart of which nothing is made."
    )
    activation: Integer = quantity(
        1,
        unit="decisions",
        ge=1,
        le=1_000_000,
        title="Activation",
        description="So many decisions behind a restart, then one is carried out.",
    )
    factor: Number = Field(
        default=0, ge=0, le=100, title="Factor", description="So much more than it takes, as a share of it, before rounding."
    )
    rate_ratio_max: Number | None = Field(
        default=None,
        ge=1,
        le=1e9,
        title="Rate ratio",
        description="If nothing needs more, and so many times what sources read comes, or more, all are multiplied; not given: never.",
    )


def tolerance_field() -> Any:
    return Field(default=0.1, ge=0, lt=1, title="Tolerance", description="A ratio to the target no further from 1 changes nothing.")


def up_add_field() -> Any:
    return quantity(
        4, unit="replicas", ge=1, le=PARALLELISM_MAX, title="Up by", description="At a time, or by the factor, if that is more."
    )


def up_times_field() -> Any:
    return Field(
        default=2, ge=1, le=1000, title="Up times", description="Times the replicas at a time, or by their number, if that is more."
    )


def stabilise_down_field() -> Any:
    description = "Down to the greatest number of replicas wished within this span; up at once."
    return quantity(300, unit="s", ge=0, le=1e8, title="Stabilisation", description=description)


class HPAK8s(Looped):
    """Kubernetes' horizontal autoscaler as it is: one number of replicas, each with an instance of all operators, by their CPU."""

    title: ClassVar[str] = "HPA, Kubernetes"
    source: ClassVar[str] = "Kubernetes, autoscaling/v2"
    kind: Literal["hpa_k8s"] = "hpa_k8s"
    cooldown_s: Number = quiet_field(0)
    step_max: Integer | None = free_step_field()
    target: Number = target_field(0.7, "Share of its CPU that a worker should use.")
    tolerance: Number = tolerance_field()
    up_add: Integer = up_add_field()
    up_times: Number = up_times_field()
    stabilise_s: Number = stabilise_down_field()


class VargaOriginal(Looped):
    """Kubernetes' autoscaler on the two metrics of streams, of the whole job: time that is not idle, and what comes as a share of what is
    read.
    """

    title: ClassVar[str] = "Varga, original"
    source: ClassVar[str] = "Varga 2021"
    kind: Literal["varga_original"] = "varga_original"
    cooldown_s: Number = quiet_field(0)
    step_max: Integer | None = free_step_field()
    target: Number = target_field(0.7, "Share of time in which an instance should not be idle.")
    tolerance: Number = tolerance_field()
    up_add: Integer = up_add_field()
    up_times: Number = up_times_field()
    stabilise_s: Number = stabilise_down_field()
    slope_s: Number = slope_field()
    lag_threshold: Integer = quantity(
        50_000,
        unit="records",
        ge=0,
        le=10**12,
        title="Short queues",
        description="With no more waiting the growth of queues does not count.",
    )

    @model_validator(mode="after")
    def _slopes_are_known(self) -> Self:
        refuse_unknown_slopes(self.slope_s, self.metrics.scrape_s)
        return self


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


AnyScaling = Annotated[
    NoScaling | Manual | Fixed | Oracle | Dhalion | DS2 | HPACpu | HPAVarga | Flink | DhalionHeron | DS2Original | HPAK8s | VargaOriginal,
    Field(discriminator="kind"),
]
