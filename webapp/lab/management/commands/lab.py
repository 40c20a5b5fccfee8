"""List, create and rename labs. Members of one lab see nothing of another."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import IntegrityError, transaction
from django.db.models import Count

from webapp.lab import fixtures, people
from webapp.lab.models import Lab
from webapp.lib.command import QuickCommand

NAME_LENGTH_MAX = 100


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        doing = parser.add_subparsers(dest="do", required=True)
        doing.add_parser("list", help="name, people and runs of each lab")
        create = doing.add_parser("create", help="create a lab with the examples")
        create.add_argument("name", type=name_of_a_lab)
        create.add_argument("--owner", required=True, help="the person who owns it; an unknown person is created")
        rename = doing.add_parser("rename", help="give a lab another name")
        rename.add_argument("name")
        rename.add_argument("new", type=name_of_a_lab)

    def handle(self, *args: Any, do: str, **options: Any) -> None:
        try:
            if do == "create":
                self._create(options["name"], options["owner"])
            elif do == "rename":
                self._rename(options["name"], options["new"])
            else:
                self._list()
        except people.NoSuchLab as error:
            raise CommandError(str(error)) from None

    def _list(self) -> None:
        for lab in Lab.objects.annotate(people=Count("membership")).order_by("pk"):
            self.stdout.write(f"{lab.name}: {lab.people} people, {lab.runs_numbered} runs")

    def _create(self, name: str, owner: str) -> None:
        lab = people.new_lab(name)
        people.member(owner, of=lab)
        fixtures.load(lab)
        self.stdout.write(
            f"lab '{name}' is there; {owner} can sign in with the link of: manage.py signin_url --user {owner} --lab '{name}'"
        )

    def _rename(self, name: str, new: str) -> None:
        lab = people.lab_named(name)
        try:
            with transaction.atomic():
                Lab.objects.filter(pk=lab.pk).update(name=new)
        except IntegrityError:
            raise CommandError(f"there is a lab '{new}' already; choose another name") from None
        self.stdout.write(f"lab '{name}' is now '{new}'")


def name_of_a_lab(text: str) -> str:
    name = text.strip()
    if not 1 <= len(name) <= NAME_LENGTH_MAX or not name.isprintable():
        raise CommandError(f"name is '{text}'; it must have 1 to {NAME_LENGTH_MAX} printable characters")
    return name
