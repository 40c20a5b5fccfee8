"""The HTTP API: one router per resource. Contract: docs/web-api.md."""

from webapp.lib.version import VERSION

from . import (
    advice,
    answers,
    audit,
    baselines,
    calibration,
    compare,
    datasets,
    diagnosis,
    documents,
    exactness,
    experiments,
    figures,
    lab,
    learning,
    lessons,
    limits,
    pauses,
    people,
    recoveries,
    runs,
    session,
    spark,
    spark_runs,
    storage,
    studies,
    tags,
    templates,
    tokens,
    versions,
    views,
    waterfalls,
)
from .authentication import Needs
from .errors import add_handlers
from .openapi import Api
from .parsing import StrictJson

api = Api(
    title="Millrace",
    version=VERSION,
    description="Experiments, runs and data sets of a lab.",
    auth=Needs(),
    parser=StrictJson(),
)
add_handlers(api)
api.add_router("", lab.router, tags=["lab"])
api.add_router("/session", session.router, tags=["sign-in"])
api.add_router("/join", session.join, tags=["sign-in"])
api.add_router("/people", people.router, tags=["lab"])
api.add_router("/invitations", people.invitations, tags=["lab"])
api.add_router("/storage", storage.router, tags=["lab"])
api.add_router("/limits", limits.router, tags=["lab"])
api.add_router("/audit", audit.router, tags=["lab"])
api.add_router("/tokens", tokens.router, tags=["lab"])
api.add_router("", documents.router, tags=["documents"])
api.add_router("/advice", advice.router, tags=["documents"])
api.add_router("/experiments", experiments.router, tags=["experiments"])
api.add_router("/experiments", versions.router, tags=["experiments"])
api.add_router("/runs", answers.router, tags=["runs"])
api.add_router("/runs", runs.router, tags=["runs"])
api.add_router("/runs", pauses.router, tags=["runs"])
api.add_router("/runs", recoveries.router, tags=["runs"])
api.add_router("/runs", waterfalls.router, tags=["runs"])
api.add_router("/runs", spark_runs.router, tags=["runs"])
api.add_router("/runs", diagnosis.router, tags=["runs"])
api.add_router("/runs", exactness.router, tags=["runs"])
api.add_router("/runs", baselines.of_run, tags=["runs"])
api.add_router("/baselines", baselines.router, tags=["runs"])
api.add_router("/compare", compare.router, tags=["runs"])
api.add_router("/studies", studies.router, tags=["studies"])
api.add_router("/figures", figures.router, tags=["figures"])
api.add_router("/learning", learning.router, tags=["learned placement"])
api.add_router("/lessons", lessons.router, tags=["lessons"])
api.add_router("/spark", spark.router, tags=["analysis"])
api.add_router("/spark/calibration", calibration.router, tags=["runs"])
api.add_router("/tags", tags.router, tags=["runs"])
api.add_router("/views", views.router, tags=["runs"])
api.add_router("/templates", templates.router, tags=["experiments"])
api.add_router("/datasets", datasets.router, tags=["data sets"])
