"""Write the audit log. API changes are named after their route, so new routes are logged automatically."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from webapp.lab.models import Dataset, Experiment, Membership, Run, Study, View
from webapp.lab.people import lab, membership_of

from .access import Asker
from .models import ApiToken, Invitation, LogEntry

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
STARTED = "runs.start"
DONE = {"POST": "create", "PUT": "change", "PATCH": "change", "DELETE": "delete"}
RENAMED = {
    "experiments.runs": STARTED,
    "runs.rerun": STARTED,
    "spark.jobs": "analyses.start",
    "spark.jobs.cancel": "analyses.cancel",
    "spark.jobs.restore": "analyses.restore",
    "spark.jobs.delete": "analyses.delete",
    "session.create": "session.sign_in",
    "session.delete": "session.sign_out",
}
UNNOTED = {
    "validate.create", "preview.create", "threshold.create", "advice.create", "studies.validate", "datasets.preview", "spark.selection",
    "join.create", "python.create", "python.read", "pyspark.create", "compare.documents", "runs.waterfalls", "runs.waterfalls.cancel",
    "runs.waterfalls.delete", "runs.step", "runs.pace", "session.lab", "session.sign-on",
    "session.factor.secret",
    "storage.rules.preview",
}  # fmt: skip
"""Routes that change nothing, or are called many times a minute."""
BY_HAND = "manage.py"
FAILED, FAILED_KEPT = "session.failed", 1000
"""Failed sign-ins, of which the newest are kept: strangers can make them."""
EDITED, EDITED_NOTED_EVERY = "experiments.change", timedelta(hours=1)  # an editor saves every second
NAMES: dict[str, Callable[[Any], str | None]] = {
    "experiment_id": lambda id: Experiment.objects.filter(pk=id).values_list("name", flat=True).first(),
    "run_id": lambda id: run_name(Run.objects.filter(pk=id).values_list("number", flat=True).first()),
    "study_id": lambda id: Study.objects.filter(pk=id).values_list("name", flat=True).first(),
    "dataset_id": lambda id: Dataset.objects.filter(pk=id).values_list("name", flat=True).first(),
    "view_id": lambda id: View.objects.filter(pk=id).values_list("name", flat=True).first(),
    "token_id": lambda id: ApiToken.objects.filter(pk=id).values_list("name", flat=True).first(),
    "person_id": lambda id: Membership.objects.filter(pk=id).values_list("user__username", flat=True).first(),
    "name": str,
    "invitation_id": lambda id: Invitation.objects.filter(pk=id).values_list("role", flat=True).first(),
}


class AuditLog:
    """Middleware that logs changes. Refused requests are not logged, since they change nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        before: Before | None = getattr(request, "audited", None)
        if before and response.status_code < 400:
            before.note(request, response)
        return response

    def process_view(self, request: HttpRequest, view: Any, arguments: Any, named: dict[str, Any]) -> None:
        if request.method not in SAFE_METHODS and request.path.startswith("/api/") and request.resolver_match:
            action = action_of(request.method or "", request.resolver_match.route)
            if action not in UNNOTED:
                request.audited = Before(action, request, named)  # type: ignore[attr-defined]


class Before:
    """Facts collected before an action: afterwards, its subject or the session may no longer exist."""

    def __init__(self, action: str, request: HttpRequest, named: dict[str, Any]) -> None:
        self.action = action
        self.user = request.user
        key, id = next(iter(named.items()), ("", ""))
        self.subject_id = str(id)
        self.named_by_answer = action == STARTED and key == "experiment_id"  # the run has the experiment's name
        self.subject = (NAMES[key](id) if key in NAMES and not self.named_by_answer else None) or ""

    def note(self, request: HttpRequest, response: HttpResponse) -> None:
        asker = getattr(request, "auth", None)
        token = asker.token.name if isinstance(asker, Asker) and asker.token else ""
        membership = asker.membership if isinstance(asker, Asker) else membership_of(request.user) or membership_of(self.user)
        if membership is None:
            return
        if self.action == EDITED and edited_lately(membership, self.subject_id):
            return
        said = json_of(response)
        subject = said["experiment"]["name"] if self.named_by_answer else self.subject or run_name(said.get("number")) or name_in(said)
        subject_id = self.subject_id or str(said.get("id") or "")
        note(membership, self.action, subject, subject_id=subject_id, token=token, detail=detail_of(request, said))


def note(membership: Membership, action: str, subject: str = "", *, subject_id: str = "", token: str = "", detail: str = "") -> None:
    LogEntry.objects.create(
        lab_id=membership.lab_id, person=membership.user.get_username(), token=token, action=action[:50], subject=subject[:200],
        subject_id=subject_id[:40], detail=detail[:200],
    )  # fmt: skip


def note_failed_sign_in(name: str, address: str) -> None:
    """Log a failed sign-in: wrong password or unknown name. Only known names are stored, since the name may be a mistyped password."""
    membership = Membership.objects.filter(user__username__iexact=name).select_related("user").first()
    person, subject = (membership.user.get_username(), "") if membership else ("", "an unknown name")
    of_lab = membership.lab_id if membership else lab().pk
    entry = LogEntry.objects.create(lab_id=of_lab, person=person, action=FAILED, subject=subject, detail=f"from {address}"[:200])
    if entry.pk % (FAILED_KEPT // 10) == 0:  # looked at now and then
        failed = LogEntry.objects.filter(lab=of_lab, action=FAILED)
        last = failed.order_by("-pk").values_list("pk", flat=True)[FAILED_KEPT - 1 : FAILED_KEPT].first()
        failed.filter(pk__lt=last or 0).delete()


def note_by_hand(membership: Membership, action: str, subject: str, detail: str = "") -> None:
    """Log an action of `manage.py` on the server."""
    LogEntry.objects.create(lab_id=membership.lab_id, person=BY_HAND, action=action, subject=subject[:200], detail=detail[:200])


def action_of(method: str, route: str) -> str:
    """`api/runs/<uuid:run_id>/cancel` is runs.cancel; without a last word, the method names the action."""
    words = [word for word in route.removeprefix("api/").split("/") if word and not word.startswith("<")]
    ends_in_word = not re.search(r">/?$", route)
    named = len(words) > 1 and ends_in_word and method != "DELETE"
    action = ".".join(words) if named else f"{'.'.join(words)}.{DONE.get(method, method.lower())}"
    return RENAMED.get(action, action)


def edited_lately(membership: Membership, subject_id: str) -> bool:
    since = timezone.now() - EDITED_NOTED_EVERY
    of_person = LogEntry.objects.filter(lab=membership.lab_id, person=membership.user.get_username(), at__gt=since)
    return of_person.filter(action=EDITED, subject_id=subject_id).exists()


def detail_of(request: HttpRequest, said: dict[str, Any]) -> str:
    """Return details that the route does not tell: role, scope, or bulk action and number of runs."""
    if "changed" in said:
        asked = json.loads(request.body)
        return f"{asked.get('action')} {asked.get('tag') or ''}".strip() + f": {len(said['changed'])} runs"
    return ", ".join(f"{field} {said[field]}" for field in ("role", "scope") if isinstance(said.get(field), str))


def json_of(response: HttpResponse) -> dict[str, Any]:
    is_json = response.get("Content-Type", "").startswith("application/json")
    if not is_json or not response.content:
        return {}
    said = json.loads(response.content)
    return said if isinstance(said, dict) else {}


def name_in(said: dict[str, Any]) -> str:
    """Return the name of a created object: its own, or that of its document."""
    document = said.get("document")
    return str(said.get("name") or (document.get("name") if isinstance(document, dict) else "") or "")


def run_name(number: int | None) -> str:
    return f"run {number}" if number else ""
