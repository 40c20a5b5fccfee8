"""A short numba pipeline for the woven loop: it is plain scalar code over arrays, so most of numba's rewriting has nothing to do there.

Leaving those passes out halves the time of the first compilation on a machine.
"""

from __future__ import annotations

from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NoPythonSupportedFeatureValidation,
    NopythonTypeInference,
)
from numba.core.untyped_passes import FixupArgs, IRProcessing, TranslateByteCode

__all__ = ["LoopCompiler"]


class LoopCompiler(CompilerBase):
    """Bytecode to typed IR to machine code, and nothing else."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("loop")
        for step, about in (
            (TranslateByteCode, "bytecode to IR"),
            (FixupArgs, "arguments"),
            (IRProcessing, "control flow"),
            (NopythonTypeInference, "types"),
            (AnnotateTypes, "annotations"),
            (NoPythonSupportedFeatureValidation, "what is supported"),
            (IRLegalization, "legal IR"),
            (NativeLowering, "IR to LLVM"),
            (NoPythonBackend, "LLVM to machine code"),
        ):
            passes.add_pass(step, about)
        passes.finalize()
        return [passes]
