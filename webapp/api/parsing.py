"""JSON that databases and browsers can handle: finite numbers, no NUL characters, limited nesting."""

from __future__ import annotations

import json
import math
from typing import Annotated, Any

from django.http import HttpRequest
from ninja.parser import Parser
from pydantic import BaseModel, ConfigDict, Strict

from engine.spec import Problem
from engine.spec.base.problems import pointer

from .errors import Problem400, Problem422

DEPTH_MAX = 64
KINDS = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}


Int, Float, Bool = Annotated[int, Strict()], Annotated[float, Strict()], Annotated[bool, Strict()]
"""Fields of bodies: true is no number, "7" is none, and 2.0 is no whole one."""


class NoJson(Exception):
    """A text that is no JSON that can be read; the message says why."""


class Body(BaseModel):
    """Base of request bodies: an unknown field is an error, and only a JSON object is an object."""

    model_config = ConfigDict(extra="forbid")


class StrictJson(Parser):
    """Parse request bodies. Ninja calls this for JSON bodies only."""

    def parse_body(self, request: HttpRequest) -> Any:
        try:
            tree = json_of(request.body.decode("utf-8-sig"), "the body")
        except UnicodeDecodeError as error:
            raise Problem400(f"the body is not UTF-8 (byte {error.start}); send JSON in UTF-8") from None
        except NoJson as error:
            raise Problem400(str(error)) from None
        if not isinstance(tree, dict):
            raise Problem422(f"the body is {KINDS.get(type(tree), 'a number')}; it must be a JSON object")
        problems = [problem.as_dict() for problem in unstorable(tree)]
        if problems:
            raise Problem422(f"{problems[0]['pointer']}: {problems[0]['message']}", problems)
        return tree


def json_of(text: str, what: str) -> Any:
    """Read JSON. what: name of the text in errors. Raises NoJson."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise NoJson(f"{what} is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise NoJson(f"{what} is nested too deeply; at most {DEPTH_MAX} levels are allowed") from None
    except ValueError:  # an integer with thousands of digits
        raise NoJson(f"{what} contains a number with too many digits; at most 4,300 are allowed") from None


def unstorable(tree: Any) -> list[Problem]:
    """Find values that no database can store as JSON. In a body that wraps a document, pointers are relative to the document."""
    problems: list[Problem] = []
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), tree)]
    while waiting:
        path, value = waiting.pop()
        place = pointer(*(path[1:] if path[:1] == ("document",) else path))
        if len(path) > DEPTH_MAX:
            return [Problem(place, "too_deep", f"nesting is deeper than {DEPTH_MAX} levels; make it flatter")]
        if isinstance(value, float) and not math.isfinite(value):
            problems.append(Problem(place, "not_finite", f"{value} is not finite; give a finite number", value=str(value)))
        elif isinstance(value, str) and not storable(value):
            problems.append(Problem(place, "bad_text", "the text contains a NUL character or an unpaired surrogate; remove it"))
        elif isinstance(value, dict):
            if not all(map(storable, value)):
                problems.append(Problem(place, "bad_text", "a key contains a NUL character or an unpaired surrogate; remove it"))
            waiting += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, index), item) for index, item in enumerate(value)]
    return sorted(problems, key=lambda problem: problem.pointer)


def storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
