import logging

from django.apps import AppConfig
from django.conf import settings

from engine.spec.experiment import registry


class LabConfig(AppConfig):
    name = "webapp.lab"
    label = "lab"

    def ready(self) -> None:
        if settings.DATA_CLOSED:
            logging.getLogger(__name__).warning(settings.DATA_CLOSED)
        registry.load_packages()  # before the API builds its models; logs each entry point that cannot be loaded
