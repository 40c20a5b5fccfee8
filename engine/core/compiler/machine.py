"""LLVM: from its language to machine code of this processor, and into this process."""

from __future__ import annotations

import functools
import itertools
import os

import llvmlite
from llvmlite import binding as llvm

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

LEVEL = 2
_numbers = itertools.count()


def processor() -> tuple[str, str]:
    """Model and features that code is made for: this processor's, or MILLRACE_CPU (such as `generic`) without special features."""
    given = os.environ.get("MILLRACE_CPU")
    return (given, "") if given else (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())


def identity() -> str:
    """What machine code depends on besides its source."""
    return " ".join([llvmlite.__version__, llvm.get_process_triple(), *processor(), str(LEVEL)])


def object_code(text: str) -> bytes:
    """Optimise and translate a module."""
    target = _target()
    module = llvm.parse_assembly(text, context=llvm.create_context())
    module.triple, module.data_layout = llvm.get_process_triple(), str(target.target_data)
    module.verify()
    # scalar code over tables: there is nothing to vectorise, and unrolled loops only take longer to compile
    options = llvm.create_pipeline_tuning_options(speed_level=LEVEL)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    code: bytes = target.emit_object(module)
    return code


def load(code: bytes, symbol: str) -> int:
    """Bring machine code into this process, for good; the address of a function in it."""
    library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process().export_symbol(symbol)
    tracker = library.link(_linker(), f"kernel{next(_numbers)}")
    _loaded.append(tracker)
    address: int = tracker[symbol]
    return address


_loaded: list[llvm.ResourceTracker] = []


def _target() -> llvm.TargetMachine:
    model, features = processor()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=model, features=features, opt=LEVEL, reloc="pic", codemodel="default", jit=True
    )


@functools.cache
def _linker() -> llvm.LLJIT:
    # JITLink lays the sections of a module side by side; LLVM's other linker maps each by itself, and ends the process where large tables
    # have left no room within the 2 GiB that one section can reach of another
    return llvm.create_lljit_compiler(_target(), use_jit_link=True)
