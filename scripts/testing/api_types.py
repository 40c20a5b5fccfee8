"""TypeScript types of the API's answers and the sockets' messages, from the API's OpenAPI document."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from launcher.environment import FRONTEND, PYTHON, ROOT, Trouble, node_packages, run

FILE = FRONTEND / "src" / "api" / "generated.ts"
GENERATOR = ["npx", "openapi-typescript", "components.json", "-o", "generated.ts"]
OPTIONS = ["--root-types", "--root-types-no-schema-prefix", "--default-non-nullable=false"]
ANY_JSON = "null | boolean | number | string | Json[] | { [key: string]: Json }"
JSON = {
    "        Json: unknown;\n": "        Json: Json;\n",
    "export type Json = components['schemas']['Json'];\n": f"export type Json = {ANY_JSON};\n",
}
"""Any JSON. The type is recursive, which TypeScript allows only for a named type."""
HEAD = "/** Written by scripts/api-types from the API's OpenAPI document. Change the types in webapp/, then run scripts/api-types. */\n"


def check() -> None:
    """Raises Trouble if the file is out of date."""
    if not FILE.is_file() or FILE.read_text() != types():
        raise Trouble(f"{FILE.relative_to(ROOT)} does not match the API's OpenAPI document; run scripts/api-types")


def write() -> None:
    FILE.write_text(types())


def types() -> str:
    """The text of the file. Requires the Python packages; installs the frontend's packages."""
    environment = node_packages()
    with tempfile.TemporaryDirectory(dir=FRONTEND) as directory:  # below node_modules' parent, so that npx finds the generator
        (Path(directory) / "components.json").write_text(json.dumps(components(Path(directory))))
        run([*GENERATOR, *OPTIONS], "generating the API's types", Path(directory), environment)
        text = HEAD + (Path(directory) / "generated.ts").read_text().partition("*/\n")[2]
    for generated, wanted in JSON.items():
        if text.count(generated) != 1:
            raise Trouble(f"the generator writes the type Json differently; update {__file__}")
        text = text.replace(generated, wanted)
    return text


def components(data: Path) -> dict[str, Any]:
    """The OpenAPI document without its routes, since pages use routes by address and types by name. data: an empty directory."""
    command = [str(PYTHON), "manage.py", "openapi"]
    environment = {**os.environ, "MILLRACE_DATA": str(data / "data")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise Trouble(f"manage.py openapi failed: {done.stderr.strip()}")
    document = json.loads(done.stdout)
    return {**document, "paths": {}, "components": {"schemas": {**untitled(document["components"]["schemas"]), "Json": {}}}}


def untitled(tree: Any) -> Any:
    """The tree without titles, which repeat the names of fields. A field called title stays: its value is not a string."""
    if isinstance(tree, list):
        return [untitled(part) for part in tree]
    if not isinstance(tree, dict):
        return tree
    return {key: untitled(part) for key, part in tree.items() if not (key == "title" and isinstance(part, str))}
