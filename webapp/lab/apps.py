import logging

from django.apps import AppConfig
from django.conf import settings


class LabConfig(AppConfig):
    name = "webapp.lab"
    label = "lab"

    def ready(self) -> None:
        if settings.DATA_CLOSED:
            logging.getLogger(__name__).warning(settings.DATA_CLOSED)
