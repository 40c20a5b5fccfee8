"""Names of run parameters and metrics."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import models

from .people import Lab

NAME_LENGTH_MAX = 300


class FieldName(models.Model):
    """A name that runs of the lab can be searched by: a document parameter (`engine.spec.base.parameters`; starts with a slash) or a
    summary metric."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    name = models.CharField(max_length=NAME_LENGTH_MAX)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "name"], name="one_field_of_a_name")]

    @classmethod
    def ids(cls, lab_id: int, names: Iterable[str]) -> dict[str, int]:
        """Return the ids of the names' rows; create missing rows."""
        wanted = set(names)
        rows = cls.objects.filter(lab=lab_id, name__in=wanted)
        known = dict(rows.values_list("name", "pk"))
        if len(known) < len(wanted):
            missing = sorted(wanted - known.keys())  # sorted, so that concurrent inserts cannot deadlock
            cls.objects.bulk_create((cls(lab_id=lab_id, name=name) for name in missing), ignore_conflicts=True)
            known = dict(rows.all().values_list("name", "pk"))
        return known
