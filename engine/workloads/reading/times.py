"""Times in cells: ISO texts, numbers since 1970, and texts of a pattern, with the zone of those that do not carry their own.

A time that occurs twice, when clocks are set back, is the earlier one. A time that never occurs, when they are set forward, is a bad cell.
"""

from __future__ import annotations

import functools
import re
import zoneinfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
from numpy.typing import NDArray

from engine.spec.base.problems import suggestion

from ..epochs import TIMESTAMP

IN_UTC = pa.timestamp("ns", "UTC")
ISO = "iso"
EPOCH_DIGITS = {"s": 9, "ms": 6, "us": 3, "ns": 0}
"""Formats of numbers since 1970, with the digits after the decimal mark that make a nanosecond."""
YEARS = (1678, 2261)
"""The whole years that fit in 64 bits of nanoseconds."""

OFFSET = r"(?:[Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)"
ISO_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
ISO_CLOCK = r"[0-9]{2}(?::[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)?"
ISO_LOCAL = f"^{ISO_DATE}(?:[ T]{ISO_CLOCK})?$"
ISO_ZONED = f"^{ISO_DATE}[ T]{ISO_CLOCK}{OFFSET}$"

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DIRECTIVES = {
    "Y": ("year", r"[0-9]{4}"),
    "y": ("year", r"[0-9]{2}"),
    "m": ("month", r"[0-9]{1,2}"),
    "b": ("month", "|".join(MONTHS)),
    "d": ("day", r"[0-9]{1,2}"),
    "H": ("hour", r"[0-9]{1,2}"),
    "I": ("hour", r"[0-9]{1,2}"),
    "M": ("minute", r"[0-9]{1,2}"),
    "S": ("second", r"[0-9]{1,2}"),
    "f": ("fraction", r"[0-9]{1,9}"),
    "p": ("half", "am|pm"),
    "z": ("offset", r"z|[+-][0-9]{2}:?[0-9]{2}"),
}
DIRECTIVE = re.compile(r"%(.?)", re.DOTALL)
KNOWN = "%Y %y %m %b %d %H %I %p %M %S %f %z %%"
COMMON = (
    *("%d.%m.%Y %H:%M:%S", "%d.%m.%Y %H:%M:%S.%f", "%d.%m.%Y %H:%M", "%d.%m.%Y"),
    *("%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M:%S.%f", "%Y/%m/%d %H:%M", "%Y/%m/%d"),
)
"""Patterns that are recognised: the order of day, month and year cannot be mistaken."""
AMBIGUOUS = (
    *("%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %I:%M %p", "%m/%d/%Y"),
    *("%d/%m/%Y %H:%M:%S", "%d/%m/%Y %H:%M", "%d/%m/%Y", "%d-%m-%Y %H:%M:%S", "%d-%m-%Y %H:%M", "%d-%m-%Y"),
    *("%d %b %Y %H:%M:%S", "%d %b %Y", "%d/%b/%Y:%H:%M:%S %z", "%Y%m%d %H:%M:%S", "%Y%m%d%H%M%S", "%Y%m%d"),
)
"""Patterns that are proposed once somebody says that a column holds times."""


@functools.cache
def zones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def zone_problem(zone: str) -> str:
    """Say why this is no time zone, or return ''."""
    if zone in zones():
        return ""
    hint = suggestion(zone, zones()) if zone.strip() else ""
    return f"time_zone is '{zone}', which is not known; use a name such as Europe/Berlin or UTC" + (
        f" ({hint})" if hint.startswith("did") else ""
    )


def format_problem(format: str) -> str:
    """Say why this is no time format, or return ''."""
    if format == ISO or format in EPOCH_DIGITS:
        return ""
    right = f"use iso, s, ms, us, ns, or a pattern of {KNOWN} such as %d.%m.%Y %H:%M:%S"
    parts: list[str] = []
    for letter in DIRECTIVE.findall(format):
        if letter == "%":
            continue
        if letter not in DIRECTIVES:
            return f"time_format has '%{letter}', which is not known; {right}"
        parts.append(DIRECTIVES[letter][0])
    if not parts:
        return f"time_format is '{format}'; {right}"
    repeated = next((part for part in parts if parts.count(part) > 1), None)
    if repeated:
        return f"time_format gives the {repeated} twice; give it once"
    absent = [part for part in ("year", "month", "day") if part not in parts]
    if absent:
        return f"time_format has no {absent[0]}; a pattern needs year, month and day, as in %d.%m.%Y"
    if ("%I" in format) != ("half" in parts):
        return "time_format has one of %I and %p; they need each other"
    return ""


@functools.lru_cache(maxsize=256)
def _pattern(format: str) -> str:
    """Return the regular expression of a valid pattern, with a group for each part."""
    parts, end = ["(?i)^"], 0
    for found in DIRECTIVE.finditer(format):
        parts.append(re.escape(format[end : found.start()]))
        name, form = DIRECTIVES.get(found[1], ("", ""))
        parts.append(f"(?P<{name}>{form})" if name else "%")
        end = found.end()
    return "".join([*parts, re.escape(format[end:]), "$"])


def read_times(cells: pa.Array, format: str, zone: str, decimal: str = ".") -> pa.Array:
    """Convert cells to timestamps in ns since 1970 (UTC). null: no cell, or not such a time. decimal: decimal mark of numbers."""
    if format == ISO:
        return _iso_times(cells, zone)
    if format in EPOCH_DIGITS:
        return _epoch_times(cells, EPOCH_DIGITS[format], decimal)
    return _pattern_times(cells, format, zone)


def as_iso(text: str) -> int | None:
    """Return an ISO time as ns since 1970; UTC unless it says otherwise. None for other texts."""
    value = _iso_times(pa.array([text]), "UTC").cast(pa.int64())[0].as_py()
    return None if value is None else int(value)


def may_be(text: str, format: str) -> bool:
    """Return whether a text has the shape of a time of this format, or of an ISO time: `local`, or `zoned` with an offset."""
    shapes = {"local": ISO_LOCAL, "zoned": ISO_ZONED}
    return re.search(shapes.get(format) or _pattern(format), text) is not None


def is_iso(cells: pa.Array, zoned: bool) -> bool:
    """Return whether all cells are ISO times that fit in ns, with or without an offset."""
    try:
        cells.cast(IN_UTC if zoned else TIMESTAMP)
    except pa.ArrowInvalid:
        return False
    return True


def iso_shape(cells: pa.Array, zoned: bool) -> pa.Array:
    """Return which cells look like ISO times, with or without an offset, whether or not there are such times."""
    return compute.match_substring_regex(cells, ISO_ZONED if zoned else ISO_LOCAL)


def iso_mask(cells: pa.Array, zoned: bool) -> pa.Array:
    """Return which cells are ISO times that fit in ns, with or without an offset."""
    texts = _only(cells, iso_shape(cells, zoned))
    return compute.is_valid(_cast_where_possible(texts, IN_UTC if zoned else TIMESTAMP))


def why_not(text: str, format: str, zone: str, decimal: str = ".") -> str:
    """Say what is wrong with a cell that `read_times` does not take."""
    cell = pa.array([text])
    if zone != "UTC" and read_times(cell, format, "UTC", decimal)[0].is_valid:
        return f"which does not exist in {zone}: clocks are set forward over it"
    if re.search(ISO_LOCAL, text) or re.search(ISO_ZONED, text):
        year = int(text[:4])
        if not YEARS[0] <= year <= YEARS[1]:
            return f"a time outside the years {YEARS[0]} to {YEARS[1]}, which do not fit in ns"
        return "which is not a date of the calendar with a time of the day"
    return {ISO: "which is not an ISO time such as 2026-01-31T12:00:00Z"}.get(
        format, f"which is not a number of {format} since 1970" if format in EPOCH_DIGITS else f"which does not have the form {format}"
    )


def _iso_times(cells: pa.Array, zone: str) -> pa.Array:
    try:
        return in_utc(cells.cast(TIMESTAMP), zone)
    except pa.ArrowInvalid:
        pass
    try:
        return cells.cast(IN_UTC).cast(pa.int64()).cast(TIMESTAMP)
    except pa.ArrowInvalid:
        pass
    encoded = cells.dictionary_encode()  # finding what is wrong is slow: each text once
    texts = encoded.dictionary
    local = _only(texts, compute.match_substring_regex(texts, ISO_LOCAL))
    zoned = _only(texts, compute.match_substring_regex(texts, ISO_ZONED))
    known = in_utc(_cast_where_possible(local, TIMESTAMP), zone)
    known = compute.coalesce(known, _cast_where_possible(zoned, IN_UTC).cast(pa.int64()).cast(TIMESTAMP))
    return known.take(encoded.indices)


def _only(cells: pa.Array, mask: pa.Array) -> pa.Array:
    return compute.if_else(mask, cells, pa.scalar(None, pa.string()))


def _cast_where_possible(cells: pa.Array, type: pa.DataType) -> pa.Array:
    """Cast; null for cells that have no such value."""
    try:
        return cells.cast(type)
    except pa.ArrowInvalid:
        if len(cells) == 1:
            return pa.nulls(1, type)
    half = len(cells) // 2
    return pa.concat_arrays([_cast_where_possible(cells.slice(0, half), type), _cast_where_possible(cells.slice(half), type)])


def in_utc(local: pa.Array, zone: str) -> pa.Array:
    """Convert times of a zone to UTC; null for times that do not exist there."""
    if zone == "UTC":
        return local
    known = compute.assume_timezone(local, zone, ambiguous="earliest", nonexistent="earliest")
    exists = compute.equal(compute.local_timestamp(known), local)
    return compute.if_else(exists, known.cast(pa.int64()).cast(TIMESTAMP), pa.scalar(None, TIMESTAMP))


def _epoch_times(cells: pa.Array, digits: int, decimal: str) -> pa.Array:
    if decimal != ".":
        cells = compute.replace_substring(cells, decimal, ".")
    fraction = rf"(?:\.(?P<fraction>[0-9]{{1,{digits}}}))?" if digits else "(?P<fraction>)"
    parts = compute.extract_regex(cells, rf"^(?P<sign>-?)(?P<whole>[0-9]{{1,{19 - digits}}}){fraction}$")
    found = parts.is_valid().to_numpy(zero_copy_only=False)
    whole = _numbers(parts.field("whole"), found).astype(np.float64), _numbers(parts.field("whole"), found)
    part = _numbers(compute.utf8_rpad(parts.field("fraction"), max(digits, 1), "0"), found)
    fits = found & (whole[0] * 10.0**digits < 9.2e18)
    sign = np.where(compute.equal(parts.field("sign"), "-").fill_null(False).to_numpy(zero_copy_only=False), -1, 1)
    values_ns = np.where(fits, sign * (whole[1] * 10**digits + part), 0)
    return _stamps(values_ns, fits)


def _numbers(texts: pa.Array, found: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return digits as numbers; 0 where nothing was found."""
    digits = compute.if_else(pa.array(found), texts, "0")
    digits = compute.if_else(compute.equal(digits, ""), "0", digits)
    try:
        return np.asarray(digits.cast(pa.int64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:  # 19 digits may be too many
        return np.array([min(int(text), 2**63 - 1) for text in digits.to_pylist()], np.int64)


def _stamps(values_ns: NDArray[np.int64], valid: NDArray[np.bool_]) -> pa.Array:
    return pa.array(values_ns, pa.int64(), mask=~valid).cast(TIMESTAMP)


def _pattern_times(cells: pa.Array, format: str, zone: str) -> pa.Array:
    parts = compute.extract_regex(cells, _pattern(format))
    found = parts.is_valid().to_numpy(zero_copy_only=False)
    names = [field.name for field in parts.type]
    texts = {name: parts.field(name) for name in names}

    def number(name: str) -> NDArray[np.int64]:
        return _numbers(texts[name], found) if name in texts else np.zeros(len(cells), np.int64)

    year, day, hour = number("year"), number("day"), number("hour")
    if "%y" in format:
        year = year + np.where(year < 69, 2000, 1900)  # as in POSIX
    month = _months(texts["month"], found) if "%b" in format else number("month")
    valid = found & (month >= 1) & (month <= 12) & (day >= 1) & (year >= YEARS[0]) & (year <= YEARS[1])
    if "half" in texts:
        valid &= (hour >= 1) & (hour <= 12)
        afternoon = compute.equal(compute.utf8_lower(texts["half"]), "pm").fill_null(False).to_numpy(zero_copy_only=False)
        hour = hour % 12 + np.where(afternoon, 12, 0)
    minute, second = number("minute"), number("second")
    valid &= (hour < 24) & (minute < 60) & (second < 60)
    months = np.where(valid, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    first, after = months.astype("datetime64[D]").astype(np.int64), (months + 1).astype("datetime64[D]").astype(np.int64)
    valid &= day <= after - first
    seconds = (((first + day - 1) * 24 + hour) * 60 + minute) * 60 + second
    fraction_ns = _numbers(compute.utf8_rpad(texts["fraction"], 9, "0"), found) if "fraction" in texts else np.int64(0)
    if "offset" in texts:
        seconds -= _offsets_s(texts["offset"], found)
        return _stamps(np.where(valid, seconds * 10**9 + fraction_ns, 0), valid)
    return in_utc(_stamps(np.where(valid, seconds * 10**9 + fraction_ns, 0), valid), zone)


def _months(texts: pa.Array, found: NDArray[np.bool_]) -> NDArray[np.int64]:
    index = compute.index_in(compute.utf8_lower(texts), value_set=pa.array(MONTHS)).fill_null(-1)
    months: NDArray[np.int64] = np.where(found, np.asarray(index.to_numpy(zero_copy_only=False), np.int64) + 1, 0)
    return months


def _offsets_s(texts: pa.Array, found: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return offsets such as +02:00 or Z in seconds."""
    digits = compute.replace_substring_regex(texts, r"[^0-9]", "")
    minutes = _numbers(digits, found)  # hhmm
    sign = np.where(compute.starts_with(texts, "-").fill_null(False).to_numpy(zero_copy_only=False), -1, 1)
    seconds: NDArray[np.int64] = sign * (minutes // 100 * 3600 + minutes % 100 * 60)
    return seconds
