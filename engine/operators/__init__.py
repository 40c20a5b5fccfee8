"""The operator kinds. A new one is a leaf file and a line here."""

from engine.spec.operator import Operator

from .aggregate import Aggregate
from .filter import Filter
from .join import Join
from .map import Map
from .project import Project
from .sink import Sink
from .source import Source
from .split import Split
from .union import Union

OPERATORS: dict[str, type[Operator]] = {o.kind: o for o in (Source, Filter, Map, Project, Split, Union, Aggregate, Join, Sink)}
