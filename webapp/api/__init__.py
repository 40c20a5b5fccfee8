"""The HTTP API: one router for each resource. docs/web-api.md is its contract."""

from ninja import NinjaAPI

from webapp import VERSION

from . import datasets, documents, experiments, lab, pauses, runs, tags, templates, waterfalls
from .authentication import authenticate
from .errors import add_handlers
from .parsing import StrictJson

api = NinjaAPI(
    title="Millrace",
    version=VERSION,
    description="Experiments, runs and data sets of a lab.",
    auth=authenticate,
    parser=StrictJson(),
)
add_handlers(api)
api.add_router("", lab.router, tags=["lab"])
api.add_router("", documents.router, tags=["documents"])
api.add_router("/experiments", experiments.router, tags=["experiments"])
api.add_router("/runs", runs.router, tags=["runs"])
api.add_router("/runs", pauses.router, tags=["runs"])
api.add_router("/runs", waterfalls.router, tags=["runs"])
api.add_router("/tags", tags.router, tags=["runs"])
api.add_router("/templates", templates.router, tags=["experiments"])
api.add_router("/datasets", datasets.router, tags=["data sets"])
