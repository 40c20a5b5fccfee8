"""Compiled loops that differ from the engine's: other operators woven in, or lines of the loop's text replaced."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import engine
from engine.core import weave
from engine.core.kernels import event_loop
from engine.core.layout import O_CODE
from engine.operators import OPERATORS


def module_of(text: str, name: str) -> ModuleType:
    """Import a text as a module that `inspect.getsource` can read."""
    path = Path(tempfile.mkdtemp(prefix="millrace-variant-")) / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def loop_with(replacements: Mapping[str, str], name: str) -> weave.Loop:
    """The woven loop after replacing lines of its template. Each text to be replaced has to occur."""
    text = Path(event_loop.__file__).read_text()
    for old, new in replacements.items():
        if old not in text:
            raise ValueError(f"the loop has no text {old!r}; this variant was made for another version")
        text = text.replace(old, new)
    return weave.weave(OPERATORS, template=module_of(text, f"loop_template_{name}"))


def simulation_on(kernels: weave.Loop, document: dict[str, Any], **options: Any) -> engine.Simulation:
    """A simulation that runs on the given loop."""
    simulation = engine.Simulation(document, **options)
    simulation._kernels = kernels
    simulation._world.arrays.op[:, O_CODE] = [kernels.code(spec.kind) for spec in simulation.experiment.query.operators]
    return simulation
