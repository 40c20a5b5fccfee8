"""Names of what runs say and measure."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import models

from .people import Lab

NAME_LENGTH_MAX = 300


class FieldName(models.Model):
    """A name by which runs of the lab can be found: of values of documents (`engine.spec.base.parameters`; they begin with a slash), and of
    numbers of summaries."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    name = models.CharField(max_length=NAME_LENGTH_MAX)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "name"], name="one_field_of_a_name")]

    @classmethod
    def ids(cls, lab_id: int, names: Iterable[str]) -> dict[str, int]:
        """The names' rows, made where they are missing."""
        wanted = set(names)
        rows = cls.objects.filter(lab=lab_id, name__in=wanted)
        known = dict(rows.values_list("name", "pk"))
        if len(known) < len(wanted):
            missing = sorted(wanted - known.keys())  # in order: two that do the same at once do not wait for each other in a circle
            cls.objects.bulk_create((cls(lab_id=lab_id, name=name) for name in missing), ignore_conflicts=True)
            known = dict(rows.all().values_list("name", "pk"))
        return known
