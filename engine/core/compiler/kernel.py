"""Functions that are compiled when they are called with arguments of types not seen before."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np

from . import store
from .source import FAULT_WORDS, Signature, Wrapped, constants, definition, is_called, reachable, source_text, syntax

ENTRY = "kernel"
"""Name of the compiled function in its machine code."""

TYPES = {np.dtype(name).str: name for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float64")}


def enabled() -> bool:
    return os.environ.get("MILLRACE_COMPILE", "1") != "0"


def checking() -> bool:
    """Whether indices are checked (MILLRACE_CHECK=1): slower by some three times, and compiled anew."""
    return os.environ.get("MILLRACE_CHECK", "0") == "1"


_WATCHER: ContextVar[Callable[[bool], None] | None] = ContextVar("watcher", default=None)


@contextlib.contextmanager
def watched(watcher: Callable[[bool], None]) -> Iterator[None]:
    """Call the watcher with True when a call inside has to wait for the compiler, of this process or another, and with False afterwards."""
    token = _WATCHER.set(watcher)
    try:
        yield
    finally:
        _WATCHER.reset(token)


@contextlib.contextmanager
def _told_of_compiling() -> Iterator[None]:
    tell = _WATCHER.get() or (lambda compiling: None)
    tell(True)
    try:
        yield
    finally:
        tell(False)


def compiled(function: Callable[..., Any]) -> Compiled:
    """Decorator of functions that other Python calls: see the package for what they may be made of."""
    return Compiled(function)


class Compiled(Wrapped):
    """A kernel that Python can call. Arguments: words (int), tables, named tuples of tables. Returns a word.

    called: kernels to be called instead of put in place, besides those marked `rare`.
    widths: columns of tables that are the same in every call, by the table's name in its tuple; addresses are then cheaper.
    """

    def __init__(
        self, function: Callable[..., Any], *, called: Collection[Callable[..., Any]] = (), widths: Mapping[str, int] | None = None
    ):
        functools.update_wrapper(self, function)
        self.function = function
        self.called = frozenset(called)
        self.widths = dict(widths or {})
        self._natives: dict[Signature, Callable[..., int]] = {}
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        known = getattr(arguments[0], "known", None)
        if known is not None and (ready := known.get((self, "ready"))) is not None:  # so it was neither switched off nor to be checked
            native, address, _ = ready
            return native(address, *map(int, arguments[1:]))
        if not enabled():
            return self._interpreted(arguments)
        signature: list[Any] = []
        given: list[int] = []  # address and shape of each table
        words: list[int] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                signature.append(self._table("", argument, given))
            elif isinstance(argument, tuple):
                types, found = self._tables(argument)
                signature.append(types)
                given += found
            else:
                signature.append(None)
                words.append(int(argument))
        native = self._natives.get(tuple(signature)) or self._native(tuple(signature))
        if checking():
            return _checked(native, given, words)
        addresses = np.array(given, np.int64)
        address = addresses.ctypes.data
        if known is not None and len(words) == len(arguments) - 1:
            known[self, "ready"] = native, address, addresses
        return native(address, *words)

    def _interpreted(self, arguments: tuple[Any, ...]) -> int:
        """Run it as Python, with the numbers and the result of machine code."""
        from .interpreted import as_argument, interpreted

        with np.errstate(all="ignore"):  # words wrap, and what is divided by zero is 0 or infinite
            result = interpreted(self.function)(*map(as_argument, arguments))
        return 0 if result is None else int(result)

    def _tables(self, tables: Any) -> tuple[tuple[Any, ...], list[int]]:
        """Types, addresses and shapes of a tuple's tables; remembered in its `known`, if it has that."""
        known = getattr(tables, "known", None)
        if known is not None and self in known:
            found: tuple[tuple[Any, ...], list[int]] = known[self]
            return found
        given: list[int] = []
        types = tuple([(name, *self._table(name, table, given)) for name, table in zip(tables._fields, tables, strict=True)])
        if known is not None:
            known[self] = types, given
        return types, given

    def _table(self, name: str, table: Any, given: list[int]) -> tuple[str, int]:
        about = table.__array_interface__  # one look for all that is asked
        shape, element = about["shape"], TYPES.get(about["typestr"])
        if element is None or about["strides"] is not None or self.widths.get(name, shape[-1]) != shape[-1]:
            wanted = f"row after row{f', {self.widths[name]} columns wide' if name in self.widths else ''}"
            raise TypeError(
                f"{self.function.__name__} is given a table {name} of {table.dtype}, shape {shape}, strides {table.strides}; "
                f"kernels take {', '.join(TYPES.values())}, {wanted}"
            )
        given += (about["data"][0], *shape)
        return element, len(shape)

    def _native(self, signature: Signature) -> Callable[..., int]:
        with self._lock:
            if signature not in self._natives:
                from . import machine  # LLVM is loaded where something is compiled

                key = self.key(signature)
                code = store.load(key)
                if code is None:
                    with _told_of_compiling(), store.lock(key):
                        code = store.load(key)  # another process may have compiled it meanwhile
                        if code is None:
                            code = self._compile(signature)
                            store.save(key, code)
                words = [ctypes.c_int64] * signature.count(None)
                make = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, *words)  # such a call lets other threads run
                self._natives[signature] = make(machine.load(code, ENTRY))
            return self._natives[signature]

    def _compile(self, signature: Signature) -> bytes:
        """The machine code. A line about it goes to the file that MILLRACE_COMPILED names."""
        from . import machine
        from .translate import translate

        began_s = time.thread_time()
        code = machine.object_code(translate(self.function, ENTRY, signature, self.called, self.widths, checking()))
        if (log := os.environ.get("MILLRACE_COMPILED")) is not None:
            about = {
                "key": self.key(signature),
                "directory": str(store.directory()),
                "kernel": self.function.__name__,
                "file": self.function.__code__.co_filename,
                "cpu_s": round(time.thread_time() - began_s, 2),
                "bytes": len(code),
            }
            with open(log, "a") as lines:
                lines.write(json.dumps(about) + "\n")
        return code

    def key(self, signature: Signature) -> str:
        """Hash of all that the machine code depends on: syntax and constants of all kernels that can be reached, types, processor.

        Comments and docstrings do not count. Lines do where indices are checked, since the code names them.
        """
        from . import machine

        hasher = hashlib.blake2b(digest_size=20)
        about = [_own_text(), machine.identity(), repr(signature), repr(sorted(self.widths.items())), repr(checking())]
        for kernel in sorted(reachable(self.function), key=lambda kernel: (kernel.__module__, kernel.__qualname__)):
            about += [kernel.__module__, kernel.__qualname__, str(is_called(kernel, self.called)), repr(constants(kernel))]
            about.append(source_text(kernel) if checking() else syntax(definition(kernel)))
        for part in about:
            hasher.update(part.encode() + b"\0")
        return hasher.hexdigest()


def _checked(native: Callable[..., int], given: list[int], words: list[int]) -> int:
    """Call code that notes the first index beyond its table behind the given words. Raises IndexError."""
    addresses = np.array([*given, *[0] * FAULT_WORDS], np.int64)
    result = native(addresses.ctypes.data, *words)
    place, index, size = addresses[len(given) :][:3].tolist()
    if place:
        raise IndexError(f"{ctypes.string_at(place).decode()}: index {index} of {size}")
    return result


@functools.cache
def _own_text() -> str:
    return "".join(path.read_text() for path in sorted(Path(__file__).parent.glob("*.py")))
