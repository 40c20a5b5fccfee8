"""JSON as databases and browsers understand it: finite numbers, no zero characters, no endless nesting."""

from __future__ import annotations

import json
import math
from typing import Any

from django.http import HttpRequest
from ninja.parser import Parser
from pydantic import BaseModel, ConfigDict

from engine.spec import Problem
from engine.spec.base.problems import pointer

from .errors import Problem400, Problem422

DEPTH_MAX = 64
KINDS = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}


class Body(BaseModel):
    """Base of what the API takes: a misspelt field is an error, and only a JSON object is an object."""

    model_config = ConfigDict(extra="forbid")


class StrictJson(Parser):
    """Reads bodies. Ninja calls it for JSON bodies only."""

    def parse_body(self, request: HttpRequest) -> Any:
        try:
            tree = json.loads(request.body.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise Problem400(f"the body is not UTF-8 (byte {error.start}); send JSON in UTF-8") from None
        except json.JSONDecodeError as error:
            raise Problem400(f"the body is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
        except RecursionError:
            raise Problem400(f"the body is nested too deeply; at most {DEPTH_MAX} levels are taken") from None
        except ValueError:  # an integer with thousands of digits
            raise Problem400("the body holds a number with too many digits; at most 4,300 are taken") from None
        if not isinstance(tree, dict):
            raise Problem422(f"the body is {KINDS.get(type(tree), 'a number')}; it must be a JSON object")
        problems = [problem.as_dict() for problem in unstorable(tree)]
        if problems:
            raise Problem422(f"{problems[0]['pointer']}: {problems[0]['message']}", problems)
        return tree


def unstorable(tree: Any) -> list[Problem]:
    """What no database can store as JSON. Pointers lead into the document, where the body is one around a document."""
    problems: list[Problem] = []
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), tree)]
    while waiting:
        path, value = waiting.pop()
        place = pointer(*(path[1:] if path[:1] == ("document",) else path))
        if len(path) > DEPTH_MAX:
            return [Problem(place, "too_deep", f"the nesting is deeper than {DEPTH_MAX} levels; make it flatter")]
        if isinstance(value, float) and not math.isfinite(value):
            problems.append(Problem(place, "not_finite", f"{value} is not a finite number; give one", value=str(value)))
        elif isinstance(value, str) and not storable(value):
            problems.append(Problem(place, "bad_text", "the text holds a zero character or half of a surrogate pair; leave it out"))
        elif isinstance(value, dict):
            if not all(map(storable, value)):
                problems.append(Problem(place, "bad_text", "a key holds a zero character or half of a surrogate pair; leave it out"))
            waiting += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, index), item) for index, item in enumerate(value)]
    return sorted(problems, key=lambda problem: problem.pointer)


def storable(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
