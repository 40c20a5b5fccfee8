"""The figure document: a figure or table of a paper, its studies, and assertions about their measurements (docs/figures.md)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.pointers import Misled, found
from ..base.problems import InvalidExperiment, Problem, Refusal, pointer, suggestion
from ..base.structure import check, refusal_problem, shown
from ..base.units import Integer, Number
from ..base.variant import Variant
from ..experiment.engines import price_list_in
from ..experiment.experiment import NOT_IN_HASH, Experiment, canonical_json
from ..expressions.assertions import Expression, Type, assertion_of, parse
from ..rules.validation import Context
from ..study.study import NAME, AnyDesign, AnySearch, Axis, Change, Drawn, Grid, NoSearch, Study, SustainableLoad, examine_study
from .evaluations import AnyEvaluation, Evaluation, GivenEvaluation, Shared, with_preset

ID = r"^[a-z][a-z0-9_]{0,29}/[A-Za-z0-9][A-Za-z0-9._-]{0,49}$"
ASSERTION_ID = r"^[A-Z][A-Za-z0-9]{0,9}(-[A-Z]?[0-9]{0,4}(\.[0-9]{1,2})?)?[a-z]?[0-9]?[a-z]?$"
Scale = Literal["smoke", "dev", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "dev", "paper")
Experiments = Callable[[str], dict[str, Any] | None]
"""Looks up an experiment document by name; returns None if unknown."""


class Source(Model):
    """Where the figure appears in the literature."""

    paper: str = Field(min_length=1, max_length=200, description="citation of the paper")
    figure: str = Field(default="", max_length=100, description="number of the figure or table")
    section: str = Field(default="", max_length=100)
    page: str = Field(default="", max_length=50)


class ScaleChange(Change):
    """A change of all studies, or of some."""

    studies: tuple[str, ...] = Field(default=(), description="names of studies; default: all")


class AtScale(Model):
    """How a scale differs from the document."""

    about: str = Field(default="", max_length=500, description="what is smaller or larger at this scale")
    changes: tuple[ScaleChange, ...] = Field(default=(), max_length=100)


class Scales(Model):
    """Scales of a figure: smoke takes seconds, dev takes minutes, paper has the paper's own scale."""

    smoke: AtScale = AtScale()
    dev: AtScale = AtScale()
    paper: AtScale = AtScale()


class FigureStudy(Model):
    """A study (`engine.spec.study.study.Study`) whose experiment can be given by name, with changes."""

    experiment: str | dict[str, Any] = Field(description="experiment document, or the name of one")
    changes: tuple[Change, ...] = Field(default=(), max_length=100, description="changes of the experiment")
    seeds: tuple[Integer, ...] = Field(default=(1,), min_length=1, max_length=1000)
    axes: tuple[Axis, ...] = Field(default=(), max_length=20)
    design: AnyDesign = Field(default_factory=Grid)
    search: AnySearch = Field(default_factory=NoSearch)


# Values drawn from runs

OverSeeds = Literal["mean", "median", "least", "most", "each"]


class FromRuns(Variant):
    """A value computed from the runs of a study. at: the point, as values of axes."""

    study: str = Field(description="name of the study")
    at: dict[str, Any] = Field(default_factory=dict, description="values of axes that select the point")
    share: Number | None = Field(default=None, description="use the runs at this share of the load found by a search")


class AtPoints(FromRuns):
    """A number at a point, or with `over` a series of numbers over the values of an axis."""

    over: str | None = Field(default=None, description="axis that gives the series' x")

    @property
    def shape(self) -> Type:
        return "number" if self.over is None else "series"


class OfMetric(AtPoints):
    """A metric from the runs' summaries, by dotted name (`latency_ms.p99`)."""

    kind: Literal["metric"] = "metric"
    metric: str
    x: str | None = Field(default=None, description="metric that gives the series' x, instead of the axis")
    seeds: OverSeeds = "mean"
    at_least: Number | None = Field(
        default=None, description="value of a run that ended before it had the metric: it is this, or more (a censored measurement)"
    )

    @property
    def shape(self) -> Type:
        return "number" if self.over is None and self.seeds != "each" else "series"


class OfSearch(AtPoints):
    """The largest sustained load: its minimum or median over seeds."""

    kind: Literal["sustained"] = "sustained"
    seeds: Literal["least", "median"] = "median"


class OfVerdict(AtPoints):
    """A number compared in the driver's verdict (docs/studies.md), by name; `sustained` is 1 or 0."""

    kind: Literal["verdict"] = "verdict"
    figure: str
    seeds: Literal["mean", "median", "least", "most"] = "mean"


class OfFrames(FromRuns):
    """A field of the runs' live frames over time, by dotted name. Frames in which it is null are skipped."""

    kind: Literal["frames"] = "frames"
    y: str
    x: str = "t_s"
    seeds: Literal["mean", "median", "least", "most"] = "mean"
    shape: ClassVar[Type] = "series"


class OfRecords(FromRuns):
    """A column of the records delivered by a sink, in delivery order; x is the number of the delivery, from 1."""

    kind: Literal["records"] = "records"
    sink: str
    column: str
    shape: ClassVar[Type] = "series"


class OfSetting(FromRuns):
    """A number from the experiment document of the runs, or of those at a share of the load found; with `over`, a series over the values
    of an axis."""

    kind: Literal["setting"] = "setting"
    field: str = Field(description="JSON pointer into the experiment")
    over: str | None = Field(default=None, description="axis that gives the series' x", exclude_if=lambda over: over is None)

    @property
    def shape(self) -> Type:
        return "number" if self.over is None else "series"


class OfScore(Variant):
    """A score of an evaluation, at some columns of its table, or with `over` a series of scores over a column."""

    kind: Literal["score"] = "score"
    evaluation: str = Field(description="name of the evaluation")
    score: str
    at: dict[str, str | Number] = Field(default_factory=dict, description="values of columns that select the rows")
    over: str | None = Field(default=None, description="column that gives the series' x")
    x: str | None = Field(default=None, description="another score as x; points without it are left out")

    @property
    def shape(self) -> Type:
        return "number" if self.over is None else "series"


class Computed(Variant):
    """A value computed from earlier values of the figure."""

    kind: Literal["computed"] = "computed"
    expression: str


AnyValue = Annotated[OfMetric | OfSearch | OfVerdict | OfFrames | OfRecords | OfSetting | OfScore | Computed, Field(discriminator="kind")]


class Unmet(Model):
    """Why an assertion does not hold, by its author."""

    why: str = Field(min_length=1, max_length=1000, description="in a sentence")
    on: date


class Assertion(Model):
    """A condition that must hold. id: as in the specification (B-50), or M-1 ... for ours. check: `engine.spec.expressions.assertions`."""

    id: str = Field(pattern=ASSERTION_ID)
    text: str = Field(min_length=1, max_length=1000, description="acceptance criterion, in words")
    check: str
    tolerance: Number | None = Field(default=None, ge=0)
    of_seeds: Integer | None = Field(
        default=None, ge=1, description="number of seeds for which it must hold, each judged separately; all, if there are fewer"
    )
    unmet: Unmet | None = Field(default=None, description="why it does not hold")
    consistency: bool = Field(
        default=False, description="true by construction: it guards the model, says nothing about the paper, and does not count"
    )


# Drawing


class PanelAxis(Model):
    title: str = Field(default="", max_length=100)
    unit: str = Field(default="", max_length=30)
    log: bool = False


class DrawnValue(Model):
    """A value in a panel. reported: draw the paper's value. unit: of a column; curves have the axis' unit. mark: with steps, y applies from
    its x on; with steps_before, up to its x, as for a rate measured over the frame that ends there."""

    value: str
    name: str = Field(default="", max_length=100)
    unit: str = Field(default="", max_length=30)
    reported: bool = False
    mark: Literal["line", "points", "steps", "steps_before", "bars"] = "line"


class Mark(Model):
    """A vertical line at a number."""

    at: str
    name: str = Field(default="", max_length=30)


class Panel(Model):
    title: str = Field(default="", max_length=200)
    x: PanelAxis = PanelAxis()
    y: PanelAxis = PanelAxis()
    series: tuple[DrawnValue, ...] = Field(min_length=1, max_length=50)
    marks: tuple[Mark, ...] = Field(default=(), max_length=20)


class Column(Model):
    """Properties of all columns with one name in the tables of a figure. better: which direction is better, if that is clear."""

    better: Literal["lower", "higher"] | None = None
    about: str = Field(default="", max_length=300, description="explanation, if the name does not suffice")


class Drawing(Model):
    """The drawing of a figure. table: each panel is a table whose columns are its series; their x, the points of an axis, name the rows."""

    kind: Literal["panels", "table"] = "panels"
    panels: tuple[Panel, ...] = Field(min_length=1, max_length=50)
    columns: dict[str, Column] = Field(
        default_factory=dict, max_length=50, description="properties of table columns, by name of the series"
    )
    deployment: str | None = Field(
        default=None,
        description="study whose query and hosts are part of the drawing",
        exclude_if=lambda deployment: deployment is None,
    )


class Figure(Model):
    """A figure of a paper: the paper's claims and how to measure them. Measurements are stored in results, never here."""

    format: Literal[1] = 1
    id: str = Field(pattern=ID, description="paper/figure")
    title: str = Field(min_length=1, max_length=300)
    source: Source
    claim: str = Field(min_length=1, max_length=5000, description="claim of the paper, in words")
    differs: str = Field(min_length=1, max_length=5000, description="differences from the paper's experiment")
    scales: Scales = Scales()
    studies: dict[Annotated[str, Field(pattern=NAME)], FigureStudy] = Field(default_factory=dict, max_length=50)
    evaluations: dict[Annotated[str, Field(pattern=NAME)], GivenEvaluation] = Field(
        default_factory=dict, max_length=50, description="evaluations of learned models"
    )
    values: dict[Annotated[str, Field(pattern=NAME)], AnyValue] = Field(min_length=1, max_length=500)
    reported: dict[str, Any] = Field(default_factory=dict, description="the paper's values: a number, or {x: [...], y: [...]}")
    assertions: tuple[Assertion, ...] = Field(min_length=1, max_length=200)
    drawing: Drawing
    calibrated: bool = Field(default=False, description="costs in its experiments were chosen to reproduce the effect shown")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        shapes = self.shapes
        ids = [assertion.id for assertion in self.assertions]
        for n, id in enumerate(ids):
            if id in ids[:n]:
                raise Refusal(
                    f"two assertions have the id '{id}'; give each its own", at=("assertions", n, "id"), code="duplicate", value=id
                )
        if not self.studies and not self.evaluations:
            message = "a figure needs a study or an evaluation, which its values are drawn from"
            raise Refusal(message, at=("studies",), code="missing")
        for scale in SCALES:
            for n, change in enumerate(getattr(self.scales, scale).changes):
                for name in change.studies:
                    self._known(name, self.studies, "study", ("scales", scale, "changes", n, "studies"))
        for name, value in self.values.items():
            if isinstance(value, FromRuns):
                self._known(value.study, self.studies, "study", ("values", name, "study"))
            elif isinstance(value, OfScore):
                self._known(value.evaluation, self.evaluations, "evaluation", ("values", name, "evaluation"))
        for name in self.reported:
            self._known(name, self.values, "value", ("reported", name))
            _refuse_shape(name, self.reported[name], shapes[name])
        for p, panel in enumerate(self.drawing.panels):
            for s, drawn in enumerate(panel.series):
                at = ("drawing", "panels", p, "series", s, "value")
                self._known(drawn.value, self.values, "value", at)
                if self.drawing.kind == "table" and shapes[drawn.value] != "series":
                    message = f"'{drawn.value}' is a number, but a column must be a series over an axis, whose points name the rows"
                    raise Refusal(message, at=at, code="wrong_type", value=drawn.value)
                if drawn.reported and drawn.value not in self.reported:
                    raise Refusal(
                        f"there is no reported value '{drawn.value}'; add it under reported", at=at, code="unknown_name", value=drawn.value
                    )
            for m, mark in enumerate(panel.marks):
                at = ("drawing", "panels", p, "marks", m, "at")
                self._known(mark.at, self.values, "value", at)
                if shapes[mark.at] != "number":
                    raise Refusal(
                        f"'{mark.at}' is a series, but the position of a mark must be a number", at=at, code="wrong_type", value=mark.at
                    )
        if self.drawing.deployment is not None:
            self._known(self.drawing.deployment, self.studies, "study", ("drawing", "deployment"))
        columns = {drawn.name or drawn.value for panel in self.drawing.panels for drawn in panel.series}
        for name in self.drawing.columns:
            if self.drawing.kind != "table":
                message = "only a table has columns; set the drawing's kind to table, or omit columns"
                raise Refusal(message, at=("drawing", "columns", name), code="unexpected", value=name)
            self._known(name, columns, "column", ("drawing", "columns", name))
        self.checks()
        return self

    @staticmethod
    def _known(name: str, names: Collection[str], what: str, at: tuple[str | int, ...]) -> None:
        if name not in names:
            raise Refusal(f"there is no {what} '{name}'", at=at, code="unknown_name", value=name, hint=suggestion(name, names))

    @property
    def shapes(self) -> dict[str, Type]:
        """Type of each value."""
        return {name: expression.type if expression else value.shape for name, value, expression in self._typed()}

    @property
    def computed(self) -> dict[str, Expression]:
        """The expressions of computed values, in the document's order."""
        return {name: expression for name, _, expression in self._typed() if expression}

    def _typed(self) -> Iterator[tuple[str, Any, Expression | None]]:
        types: dict[str, Type] = {}
        for name, value in self.values.items():
            if not isinstance(value, Computed):
                types[name] = value.shape
                yield name, value, None
                continue
            at = ("values", name, "expression")
            expression = parse(value.expression, types, at=at)
            if expression.type not in ("number", "series"):
                raise Refusal(
                    "a computed value must be a number or a series, not a truth value", at=at, code="wrong_type", value=value.expression
                )
            if not expression.names:
                raise Refusal(
                    f"{name} uses no value from runs; a figure must not contain measured values, so use at least one",
                    at=at,
                    code="not_measured",
                )
            types[name] = expression.type
            yield name, value, expression

    def checks(self) -> dict[str, Expression]:
        """The expression of each assertion, by id. Raises Refusal."""
        shapes = self.shapes
        reported: dict[str, Type] = {name: shapes[name] for name in self.reported}
        found = {}
        for n, assertion in enumerate(self.assertions):
            at = ("assertions", n, "check")
            expression = assertion_of(parse(assertion.check, shapes, reported, assertion.tolerance, at), at)
            if not expression.names:
                raise Refusal(
                    f"{assertion.id} uses no value from runs; use at least one", at=at, code="not_measured", value=assertion.check
                )
            found[assertion.id] = expression
        return found


def study_at(figure: Figure, name: str, scale: Scale, experiments: Experiments) -> dict[str, Any]:
    """The document of a study at a scale. Raises Refusal (path in the figure)."""
    given = figure.studies[name]
    document: Any = given.model_dump(by_alias=True, mode="json", exclude={"experiment", "changes"})
    experiment: Any = given.experiment
    if isinstance(experiment, str):
        experiment = experiments(experiment)
        if experiment is None:
            message = f"there is no experiment '{given.experiment}'"
            raise Refusal(message, at=("studies", name, "experiment"), code="unknown_name", value=given.experiment)
    for n, change in enumerate(given.changes):
        experiment = _applied(change, experiment, ("studies", name, "changes", n))
    document |= {"name": f"{figure.id}, {name}, {scale} scale", "experiment": experiment}
    for n, change in enumerate(getattr(figure.scales, scale).changes):
        if not change.studies or name in change.studies:
            document = _applied(change, document, ("scales", scale, "changes", n))
    return document  # type: ignore[no-any-return]


def evaluation_at(figure: Figure, name: str, scale: Scale, experiments: Experiments) -> Evaluation:
    """An evaluation with its sizes at a scale. Raises Refusal (path in the figure), InvalidExperiment."""
    given = figure.evaluations[name]
    if isinstance(given, Shared):
        document = experiments(given.name)
        if document is None:
            message = f"there is no evaluation '{given.name}'"
            raise Refusal(message, at=("evaluations", name, "name"), code="unknown_name", value=given.name)
        found, problems = check(_Named, {"evaluation": document})
        if found is None:
            raise InvalidExperiment(problems)
        given = found.evaluation
    return with_preset(given, scale)


class _Named(Model):
    """An evaluation in a file of its own."""

    evaluation: AnyEvaluation


def identity(figure: Figure, scale: Scale, experiments: Experiments) -> str:
    """Hash of everything that the figure's result at a scale depends on: studies, evaluations, values, reported values, and what assertions
    check, but no texts. Raises Refusal, InvalidExperiment."""
    studies = {name: _without_texts(study_at(figure, name, scale, experiments)) for name in figure.studies}
    judged = figure.model_dump(by_alias=True, mode="json", include={"values", "reported", "assertions"})
    judged["assertions"] = [{name: of[name] for name in ("id", "check", "tolerance", "of_seeds")} for of in judged["assertions"]]
    judged["values"] = {
        name: {part: of[part] for part in of if part != "at_least" or of[part] is not None} for name, of in judged["values"].items()
    }
    if figure.calibrated:
        judged["calibrated"] = True
    if figure.evaluations:
        judged["evaluations"] = {
            name: evaluation_at(figure, name, scale, experiments).model_dump(mode="json") for name in figure.evaluations
        }
    return hashlib.blake2b(canonical_json({"studies": studies, **judged}), digest_size=32).hexdigest()


def _without_texts(study: dict[str, Any]) -> dict[str, Any]:
    """A study's document without what no run depends on."""
    experiment = {name: of for name, of in study["experiment"].items() if name not in NOT_IN_HASH}
    query = experiment.get("query", {})
    operators = [dict(operator) for operator in query.get("operators", ())]
    for operator in operators:
        if operator.get("cost"):
            operator["cost"] = {name: of for name, of in operator["cost"].items() if name != "fitted_to"}
    return {**study, "experiment": {**experiment, "query": {**query, "operators": operators}}}


CORPORA = "costream_2024"
"""The price list that charges the traces of corpora (`engine.corpus.experiments`)."""


def price_lists(figure: Figure, experiments: Experiments) -> set[str]:
    """Names of the price lists that charge the runs of a figure."""
    names = {CORPORA} if figure.evaluations else set[str]()
    for study in figure.studies.values():
        given = experiments(study.experiment) if isinstance(study.experiment, str) else study.experiment
        names.add(price_list_in(given or {}, Experiment.model_fields["prices"].default))
        names |= {change.value for change in study.changes if "/prices" in change.fields}
        names |= {_engine_list(change.fields, change.value) for change in study.changes}
        names |= {
            _engine_list(axis.fields, value)
            for axis in study.axes
            for value in (axis.values.listed() if hasattr(axis.values, "listed") else ())
        }
    return names - {""}


def _engine_list(fields: Sequence[str], value: Any) -> str:
    """Name of the price list of an engine that these fields are set to; empty if it is none."""
    if "/policies/engine/kind" in fields:
        value = {"kind": value}
    elif "/policies/engine" not in fields:
        return ""
    return price_list_in({"policies": {"engine": value}}, "")


def _applied(change: Change, document: Mapping[str, Any], at: tuple[str | int, ...]) -> dict[str, Any]:
    try:
        return change.apply(document, change.value)
    except Refusal as refusal:
        raise Refusal(str(refusal), at=(*at, *refusal.at), code=refusal.code, value=refusal.value, hint=refusal.hint) from None


def examine_figure(document: Any, experiments: Experiments, context: Context | None = None) -> tuple[Figure | None, list[Problem]]:
    """Validate a figure and its studies at every scale. Returns the figure, or None if there is an error, and all problems."""
    figure, problems = check(Figure, document)
    if figure is None:
        return None, problems
    seen: set[tuple[str, str]] = set()
    seeds: set[int] = set()
    problems += _evaluation_problems(figure, experiments)
    for scale in SCALES:
        studies: dict[str, Study] = {}
        for name in figure.studies:
            try:
                study, found_problems = examine_study(study_at(figure, name, scale, experiments), context)
            except Refusal as refusal:
                study, found_problems = None, [refusal_problem(refusal, ())]
            else:
                found_problems = [_below_study(problem, name, scale) for problem in found_problems if problem.severity == "error"]
            if study is not None:
                studies[name] = study
                seeds |= set(study.seeds)
            for problem in found_problems:
                if (problem.pointer, problem.code) not in seen:
                    seen.add((problem.pointer, problem.code))
                    problems.append(problem)
        problems += [problem for problem in _value_problems(figure, studies) if (problem.pointer, problem.code) not in seen]
        seen |= {(problem.pointer, problem.code) for problem in problems}
    for n, assertion in enumerate(figure.assertions):
        if seeds and assertion.of_seeds is not None and assertion.of_seeds > len(seeds):
            message = f"of_seeds is {assertion.of_seeds}, but its studies have at most {len(seeds)} seeds; give at most {len(seeds)}"
            problems.append(Problem(pointer("assertions", n, "of_seeds"), "out_of_range", message, assertion.of_seeds))
    return (None if problems else figure), problems


def load_figure(document: Any, experiments: Experiments, context: Context | None = None) -> Figure:
    """Load a figure. Raises InvalidExperiment with all problems."""
    figure, problems = examine_figure(document, experiments, context)
    if figure is None:
        raise InvalidExperiment(problems)
    return figure


def _below_study(problem: Problem, study: str, scale: str) -> Problem:
    message = f"at {scale} scale: {problem.message}"
    return Problem(f"{pointer('studies', study)}{problem.pointer}", problem.code, message, problem.value, problem.hint)


def _evaluation_problems(figure: Figure, experiments: Experiments) -> Iterator[Problem]:
    """Problems of evaluations, and of values that name a column or a score that they do not have."""
    found: dict[str, Evaluation] = {}
    for name in figure.evaluations:
        try:
            found[name] = evaluation_at(figure, name, "dev", experiments)
        except Refusal as refusal:
            yield refusal_problem(refusal, ())
        except InvalidExperiment as invalid:
            for problem in invalid.problems:
                yield replace(problem, pointer=pointer("evaluations", name))
    for name, value in figure.values.items():
        if not isinstance(value, OfScore) or value.evaluation not in found:
            continue
        of = found[value.evaluation]
        at = pointer("values", name)
        for column in (*value.at, *([value.over] if value.over else [])):
            if column not in of.COLUMNS:
                message = f"an evaluation of kind {of.kind} has no column '{column}'"
                yield Problem(at, "unknown_name", message, column, suggestion(column, of.COLUMNS))
        for field, score in (("score", value.score), ("x", value.x)):
            if score is not None and score not in of.SCORES:
                message = f"an evaluation of kind {of.kind} has no score '{score}'"
                yield Problem(f"{at}/{field}", "unknown_name", message, score, suggestion(score, of.SCORES))
        if value.x is not None and value.over is None:
            message = "x replaces the x of a series, but the value is a number; give over"
            yield Problem(f"{at}/x", "missing", message, value.x)


def _value_problems(figure: Figure, studies: Mapping[str, Study]) -> Iterator[Problem]:
    """Problems of values that name an unknown axis, leave an axis open, or need something the study does not have."""
    for name, value in figure.values.items():
        if not isinstance(value, FromRuns) or value.study not in studies:
            continue
        study = studies[value.study]
        axes = [axis.name for axis in study.axes]
        for axis in value.at:
            if axis not in axes:
                message = f"study '{value.study}' has no axis '{axis}'"
                yield Problem(pointer("values", name, "at", axis), "unknown_name", message, axis, suggestion(axis, axes))
        over = value.over if isinstance(value, AtPoints) else None
        if over is not None and over not in axes:
            message = f"study '{value.study}' has no axis '{over}'"
            yield Problem(pointer("values", name, "over"), "unknown_name", message, over, suggestion(over, axes))
        if not isinstance(study.design, Drawn):
            left_open = [axis for axis in axes if axis not in value.at and axis != over]
            if left_open and isinstance(study.design, Grid) and not isinstance(value, OfSetting):
                message = f"{name} does not fix {' and '.join(left_open)}; give a value under at, or draw a series over it"
                yield Problem(pointer("values", name, "at"), "missing", message)
        searches = isinstance(study.search, SustainableLoad)
        if isinstance(value, OfSearch) and not searches:
            message = f"study '{value.study}' does not search for a sustained load; give it search: {{kind: sustainable}}"
            yield Problem(pointer("values", name, "study"), "no_search", message, value.study)
        takes_share = not isinstance(value, OfSearch) and not (isinstance(value, OfSetting) and value.share is None)
        if takes_share and value.share not in (shares := _shares(study)):
            message = (
                f"study '{value.study}' has runs at the shares {shares} of the load found, but share is {value.share}; choose one of these"
            )
            if shares == (None,):
                message = f"study '{value.study}' does not search for a load, so share {value.share} has no meaning; omit share"
            yield Problem(pointer("values", name, "share"), "unknown_share", message, value.share)
        if isinstance(value, OfMetric) and value.x is not None and value.over is None:
            yield Problem(pointer("values", name, "x"), "missing", "x is given without an axis for the series; give over")
        if isinstance(value, OfMetric) and value.seeds == "each" and value.over is not None:
            yield Problem(
                pointer("values", name, "seeds"),
                "invalid",
                "a series over an axis combines all seeds into one number per point; choose mean, median, least or most",
            )
        if isinstance(value, OfSetting):
            try:
                number = found(study.document(value.at, study.seeds[0], value.share is not None), value.field)
                if isinstance(number, bool) or not isinstance(number, int | float):
                    message = f"'{value.field}' is {shown(number)}, which is not a number"
                    yield Problem(pointer("values", name, "field"), "wrong_type", message, shown(number))
            except Misled as misled:
                yield Problem(pointer("values", name, "field"), "unknown_field", str(misled), value.field, misled.hint)


def _shares(study: Study) -> tuple[float | None, ...]:
    return study.search.shares if isinstance(study.search, SustainableLoad) else (None,)


def _refuse_shape(name: str, given: Any, shape: Type) -> None:
    """Raise Refusal unless the reported value has the same shape as the measured one."""
    at: tuple[str | int, ...] = ("reported", name)
    if shape == "number":
        if not _is_number(given):
            raise Refusal(
                f"'{name}' is a number, but its reported value is {shown(given)}; give a number", at=at, code="wrong_shape", value=given
            )
        return
    if not isinstance(given, dict) or set(given) != {"x", "y"} or not all(isinstance(given[part], list) for part in ("x", "y")):
        message = f"'{name}' is a series, but its reported value is {shown(given)}; give x and y, lists of the same length"
        raise Refusal(message, at=at, code="wrong_shape", value=given)
    if len(given["x"]) != len(given["y"]) or not given["x"]:
        message = f"{name} has {len(given['x'])} x and {len(given['y'])} y; a series must have equally many of both, and at least one"
        raise Refusal(message, at=at, code="wrong_shape", value=given)
    for part in ("x", "y"):
        for n, number in enumerate(given[part]):
            if not _is_number(number) and not (part == "x" and isinstance(number, str)):
                message = f"{part} of {name} contains {shown(number)}, which is not a number"
                raise Refusal(message, at=(*at, part, n), code="wrong_shape", value=number)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
