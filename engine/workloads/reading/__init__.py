"""How files of text become data sets: the document of a reading, its detection, and the reader that applies it."""

from .apply import detect_whole, refuse_spoilt_times
from .cells import json_values
from .detection import Detected, Reason
from .document import COLUMNS_MAX, Choices, ReadColumn, Reading, ReadingRefused, choices_of, hash_of, reading_problems
from .preview import PREVIEW_BYTES, PREVIEW_ROWS, Preview, preview_text
from .reader import Counts, records, schema_of
from .spoilt import refuse_spoilt
from .text import EMPTY, NO_ROWS, TextFile

__all__ = [
    "COLUMNS_MAX",
    "EMPTY",
    "NO_ROWS",
    "PREVIEW_BYTES",
    "PREVIEW_ROWS",
    "Choices",
    "Counts",
    "Detected",
    "Preview",
    "ReadColumn",
    "Reading",
    "ReadingRefused",
    "Reason",
    "TextFile",
    "choices_of",
    "detect_whole",
    "hash_of",
    "json_values",
    "preview_text",
    "reading_problems",
    "records",
    "refuse_spoilt",
    "refuse_spoilt_times",
    "schema_of",
]
