"""Where trained cost models lie: in the data directory, and those that come with Millrace."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


def places() -> list[Path]:
    """Folders with a folder for each set of models. Of the same name, the first counts."""
    return [Path(settings.DATA_DIR) / "models", Path(settings.BASE_DIR) / "fixtures" / "models"]


def folders() -> dict[str, Path]:
    """Of all models by name, those of the data directory first."""
    found: dict[str, Path] = {}
    for place in places():
        for folder in sorted(place.iterdir()) if place.is_dir() else ():
            if folder.is_dir():
                found.setdefault(folder.name, folder)
    return found
