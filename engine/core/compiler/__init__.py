"""Compiles kernels: plain Python functions over words and tables become machine code, by way of LLVM.

A kernel is a function of a module, written in a part of Python in which every name has one type:

* Values: words (64-bit integers that wrap), floats (64 bits) and truth values. A variable keeps the type of its first assignment.
* Tables: NumPy arrays of float64 or of integers, row after row, with one index for each dimension; `table.shape[n]`. Narrow integers are
  read as words; of what is written to them the lowest bits are kept. A named tuple of tables is given as a whole (`world.msg`). Tables and
  tuples are no values: they can be handed on and given a second name, and nothing else. Two tables may share memory. Indices are
  checked with MILLRACE_CHECK=1 only.
* `=`, `+=` and its like, `if`, `while`, `for .. in range(..)`, `break`, `continue`, `return`; `+ - * / // % & | ^ << >> ~`, comparisons,
  `and`, `or`, `not`, `a if c else b`, `min`, `max`, `abs`, `int`, `float`, `np.sqrt`. `//` and `%` round down, as in Python; by zero they
  give 0. Every operation is defined for all values, so that results do not depend on the processor.
* Calls of other kernels, with tables or values. Module-level numbers are constants. `prefetch(table, index, ...)` says that an element will
  be wanted soon; it need not be there.

Nothing of a call is left where it is put in place, as is the rule; a function marked `@rare` is called. Because the tables of a call are
known when compiling, only values are passed in either case.

`compiled(function)` compiles at the first call with arguments of new types and keeps the machine code on disk (`store`), under a key made
of all that it depends on. MILLRACE_COMPILE=0 runs the functions as Python, to step through them (`interpreted`): numbers wrap there, too,
wherever they come from, and the results are the same.
"""

from .kernel import Compiled, compiled, watched
from .problem import CannotCompile
from .source import prefetch, rare, reachable

__all__ = ["CannotCompile", "Compiled", "compiled", "prefetch", "rare", "reachable", "watched"]
