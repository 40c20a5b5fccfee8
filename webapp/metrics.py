"""`/metrics` for Prometheus: contents and queue of the lab, health of its parts, and resources of this process."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from webapp.accounts.rights import Right
from webapp.api.authentication import Needs
from webapp.api.errors import ApiError
from webapp.lab.models import Dataset, Experiment, Lab, Membership, Run, RunState
from webapp.lib import redis_connection
from webapp.lib.errors import error
from webapp.messaging.heartbeats import workers_alive


class LabCollector(Collector):
    """Counts at scrape time; a scrape costs a few count queries."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab

    def collect(self) -> Iterator[GaugeMetricFamily]:
        states = Run.objects.filter(lab=self.lab, deleted_at__isnull=True).values_list("state").annotate(Count("pk"))
        yield gauge("runs", "Runs by state", "state", {**dict.fromkeys(RunState.values, 0), **dict(states)})
        roles = Membership.objects.filter(lab=self.lab).values_list("role").annotate(Count("pk"))
        yield gauge("people", "People by role", "role", dict(roles))
        things = {"experiments": Experiment.objects.filter(deleted_at__isnull=True), "datasets": Dataset.objects.all()}
        for name, rows in things.items():
            yield GaugeMetricFamily(f"millrace_{name}", name.capitalize(), value=rows.filter(lab=self.lab).count())
        redis_up = redis_connection.is_up()
        yield gauge("up", "Whether a part is up", "part", {"redis": int(redis_up), "worker": int(redis_up and workers_alive())})


def gauge(name: str, says: str, label: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"millrace_{name}", says, labels=[label])
    for value, number in values.items():
        family.add_metric([value], number)
    return family


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    try:
        asker = Needs(Right.METRICS)(request)
    except ApiError as refused:
        return error(refused.status, refused.detail)
    registry = CollectorRegistry()
    for collector in (LabCollector(asker.lab), ProcessCollector(registry=None), PlatformCollector(registry=None)):
        registry.register(collector)
    return HttpResponse(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)
