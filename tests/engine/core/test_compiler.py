"""Compiled kernels give what Python gives, what cannot be compiled is refused in words, and machine code is kept safely.

Random kernels are run both ways, on words at the ends of their range and on floats with zeros of both signs, infinities and NaN. What this
catches: an operand order, an operation that the processor defines otherwise, a branch that leads elsewhere, a conversion that is missing,
code kept under a key that misses something it depends on.
"""

from __future__ import annotations

import itertools
import linecache
import math
import os
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.compiler import CannotCompile, Compiled, compiled, prefetch, rare, store, watched

ROOT = Path(__file__).resolve().parents[3]
LEAST, MOST = -(2**63), 2**63 - 1
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def own_directory(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Code of tests is not put among the engine's."""
    directory = tmp_path_factory.mktemp("kernels")
    monkeypatch.setenv("MILLRACE_KERNELS", str(directory))
    return directory / "millrace-kernels"


def functions(text: str, **space: Any) -> dict[str, Any]:
    """The functions of a text, with their source where the compiler looks for it."""
    name = f"<kernels {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), space := {"np": np, "rare": rare, "prefetch": prefetch, "__name__": "kernels", **space})
    return space


def kernel(text: str, **space: Any) -> Callable[..., Any]:
    """The last function of a text."""
    found = [value for value in functions(text, **space).values() if callable(value) and getattr(value, "__module__", "") == "kernels"]
    return found[-1]


def in_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel without the compiler; warnings are errors."""

    def run(*arguments: Any) -> Any:
        with mock.patch.dict(os.environ, MILLRACE_COMPILE="0"), warnings.catch_warnings():
            warnings.simplefilter("error")
            return Compiled(function)(*arguments)

    return run


# Random expressions. A kernel reads three words and three floats from tables and writes what it finds there.

words = st.sampled_from([0, 1, -1, 2, -2, 3, 63, 64, -64, 1 << 31, 1 << 32, (1 << 53) + 1, MOST, LEAST, MOST - 1, LEAST + 1]) | st.integers(
    LEAST, MOST
)
floats = st.sampled_from([0.0, -0.0, 1.5, -2.5, math.inf, -math.inf, math.nan, 1e300, 5e-324]) | st.floats()
literals = st.sampled_from([0, 1, 2, 7, 64, -1, -3, MOST, LEAST]).map(lambda n: f"Word({n})")
float_literals = st.sampled_from(["0.0", "-0.0", "0.5", "-3.25", "1e18"]).map("Float({})".format)


def binary(signs: str, left: st.SearchStrategy[str], right: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds("({} {} {})".format, left, st.sampled_from(signs.split()), right)


def deeper(texts: tuple[st.SearchStrategy[str], ...]) -> tuple[st.SearchStrategy[str], ...]:
    word, real, truth = texts
    return (
        binary("+ - * // % & | ^ << >>", word, word)
        | st.builds("(- {})".format, word)
        | st.builds("(~ {})".format, word)
        | st.builds("abs({})".format, word)
        | st.builds("{}({}, {}, {})".format, st.sampled_from(["min", "max"]), word, word, word)
        | st.builds("({} if {} else {})".format, word, truth, word)
        | st.builds("({} + {})".format, word, truth)
        | st.builds("mixed({}, {})".format, word, real),
        binary("+ - * /", real, real)
        | binary("+ - * /", word, real)
        | st.builds("(- {})".format, real)
        | st.builds("abs({})".format, real)
        | st.builds("np.sqrt({})".format, real)
        | st.builds("float({})".format, word)
        | st.builds("{}({}, {})".format, st.sampled_from(["min", "max"]), real, real)
        | st.builds("({} if {} else {})".format, real, truth, real),
        binary("< <= > >= == !=", word, word)
        | binary("< <= > >= == !=", real, real)
        | st.builds("({} <= {} < {})".format, word, word, word)
        | st.builds("(not {})".format, truth)
        | binary("and or", truth, truth)
        | binary("== !=", truth, truth),
    )


def expressions() -> tuple[st.SearchStrategy[str], ...]:
    texts: tuple[st.SearchStrategy[str], ...] = (
        st.sampled_from(["a", "b", "c"]) | literals,
        st.sampled_from(["x", "y", "z"]) | float_literals,
        st.sampled_from(["(a < b)", "(x < y)", "True", "False"]),
    )
    for _ in range(2):
        texts = tuple(old | new for old, new in zip(texts, deeper(texts), strict=True))
    return texts


WORD_TEXTS, FLOAT_TEXTS, TRUTH_TEXTS = expressions()

HEAD = """
def mixed(n, real):
    if real != real:
        return n
    return n - 1 if real < 0.5 else n + 3

def found(words, reals, words_out, reals_out):
    a = words[0]
    b = words[1]
    c = words[2]
    x = reals[0]
    y = reals[1]
    z = reals[2]
"""


def bits(array: np.ndarray[Any, Any]) -> list[Any]:
    """As words; every NaN is one, for its bits depend on the processor."""
    return ["nan" if isinstance(value, float) and value != value else repr(value) for value in array.tolist()]


@given(
    texts=st.lists(st.tuples(WORD_TEXTS, FLOAT_TEXTS, TRUTH_TEXTS), min_size=1, max_size=6),
    rows=st.lists(st.tuples(words, words, words, floats, floats, floats), min_size=1, max_size=8),
)
def test_random_expressions_give_what_python_gives(texts: list[tuple[str, str, str]], rows: list[tuple[Any, ...]]) -> None:
    lines = [HEAD.lstrip("\n")]
    for n, (word, real, truth) in enumerate(texts):
        lines += [f"    words_out[{2 * n}] = {word}", f"    reals_out[{n}] = {real}", f"    words_out[{2 * n + 1}] = {truth}"]
    text = "\n".join([*lines, ""])
    wrapping = kernel(text, Word=np.int64, Float=np.float64, float=np.float64)  # NumPy's numbers wrap and divide by zero
    plain = kernel(text.replace("Word(", "(").replace("Float(", "("))
    native = Compiled(plain)
    for row in rows:
        outcomes = []
        for run in (wrapping, native, in_python(plain)):
            words_out, reals_out = np.zeros(2 * len(texts), np.int64), np.zeros(len(texts))
            with np.errstate(all="ignore"):
                run(np.array(row[:3], np.int64), np.array(row[3:]), words_out, reals_out)
            outcomes.append((bits(words_out), bits(reals_out)))
        assert outcomes[0] == outcomes[1] == outcomes[2], (texts, row)


# Statements

COLLATZ = """
def halves(n, steps):
    while True:
        if n == 1:
            return steps
        if n % 2 == 1:
            n = 3 * n + 1
            steps += 1
            continue
        n //= 2
        steps += 1

def longest(found, limit):
    best = 0
    for n in range(1, limit):
        steps = halves(n, 0)
        if steps > best:
            best = steps
            found[0] = n
        elif steps == best:
            found[1] += 1
    return best
"""

LOOPS = """
def loops(out, n):
    at = 0
    for i in range(n, -n, -3):
        if i == 1:
            break
        for j in range(i):
            if j == 2:
                continue
            out[at] = 10 * i + j
            at += 1
    i, at = at, i
    for step in range(1, 3):
        for k in range(0, n, step):
            out[i] += k
    return i * 1000 + at
"""

TABLES = """
def shift(table, row, by):
    for c in range(table.shape[1]):
        table[row, c] += by

def tables(world, extra):
    words = world.words
    small = world.small
    for r in range(words.shape[0]):
        prefetch(words, r + 1, 0)
        prefetch(extra, -r)
        shift(words, r, extra[r])
        small[r] = words[r, 0]
        world.reals[r] /= 2
    return words.shape[0] * words.shape[1]
"""

EARLY = """
def search(table, key):
    for n in range(table.shape[0]):
        if table[n] == key:
            return n
    return -1

def is_there(table, key):
    return search(table, key) >= 0

def half(value):
    return value / 2

def early(table):
    found = 100 * search(table, 7) + search(table, 8)
    if is_there(table, 9) and not is_there(table, 10):
        found += 1000
    real = half(7)
    if real == 3.5:
        found += 10_000
    return found
"""


class World(NamedTuple):
    words: Any
    small: Any
    reals: Any


def world() -> World:
    return World(np.arange(12).reshape(4, 3) * 100_000, np.zeros(4, np.uint16), np.arange(4.0))


CASES = {
    "calls": (COLLATZ, lambda: (np.zeros(2, np.int64), 200)),
    "loops": (LOOPS, lambda: (np.zeros(100, np.int64), 10)),
    "tables": (TABLES, lambda: (world(), np.array([1, -2, 3, MOST]))),
    "returns": (EARLY, lambda: (np.array([3, 8, 7, 9]),)),
}


@pytest.mark.parametrize("marked", [False, True], ids=["in place", "called"])
@pytest.mark.parametrize("name", CASES)
def test_statements_do_what_python_does(name: str, marked: bool) -> None:
    text, arguments = CASES[name]
    function = kernel(text.replace("\ndef ", "\n@rare\ndef ") if marked else text)
    ours, pythons, interpreted = arguments(), arguments(), arguments()
    with np.errstate(over="ignore"):
        wanted = function(*pythons)
    assert Compiled(function)(*ours) == in_python(function)(*interpreted) == wanted
    for one, other, third in zip(flat(ours), flat(pythons), flat(interpreted), strict=True):
        assert np.array_equal(one, other)
        assert np.array_equal(one, third)


def flat(arguments: Any) -> list[Any]:
    return [part for argument in arguments for part in (argument if isinstance(argument, tuple) else [argument])]


# What cannot be compiled

REFUSED = {
    "a list": ("def f(t):\n    x = [1]\n", "line 2: `[1]` is no expression"),
    "try": ("def f(t):\n    try:\n        pass\n    finally:\n        pass\n", "`try:` is no statement"),
    "two types": ("def f(t):\n    x = 1\n    x = 0.5\n", "`x` gives a float where a word is needed"),
    "unknown name": ("def f(t):\n    return t[0] + y\n", "`y` is neither assigned before nor a constant"),
    "text": ("NAME = 'a'\ndef f(t):\n    return NAME\n", "kernels know numbers only"),
    "dimensions": ("def f(t):\n    return t[0, 0]\n", "has 2 indices; the table has 1 dimensions"),
    "not a table": ("def f(t):\n    x = 1\n    return x[0]\n", "`x` is no table"),
    "table as value": ("def f(t):\n    return t + 1\n", "`t` is a table, not a value"),
    "two tables": ("def f(t, u):\n    v = t\n    if t[0] == 1:\n        v = u\n", "means one table all along"),
    "value for a table": ("def f(t):\n    t = 3\n", "gives t, which is a table, a value"),
    "words joined by or": ("def f(t):\n    x = t[0] or 3\n", "truth values only"),
    "too large": ("def f(t):\n    return 9223372036854775808\n", "does not fit into a word"),
    "a library's function": ("def f(t):\n    return np.exp(0.5)\n", "is no call that kernels can make"),
    "nothing to fetch": ("def f(t):\n    prefetch(t)\n", "`prefetch(t)` names no element of a table"),
    "unknown function": ("def f(t):\n    return len(t)\n", "calls something that is no kernel"),
    "recursion": ("def f(t):\n    return f(t)\n", "calls itself"),
    "arguments": ("def g(x):\n    return x\n\ndef f(t):\n    return g(1, 2)\n", "takes 1 arguments (x), not 2"),
    "no value": ("def g(x):\n    pass\n\ndef f(t):\n    return g(1)\n", "gives no value"),
    "sometimes a value": ("def f(t):\n    if t[0] == 1:\n        return 1\n", "ends without one on others"),
    "defaults": ("def f(t, x=1):\n    return x\n", "without defaults"),
    "else of a loop": ("def f(t):\n    for i in range(3):\n        pass\n    else:\n        pass\n", "has an else"),
    "a float for Python": ("def f(t):\n    return 0.5\n", "only words can be returned"),
    "float and bits": ("def f(t):\n    return 0.5 & 1\n", "is not there for a float"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_compiled_is_refused_in_words(what: str) -> None:
    text, words = REFUSED[what]
    function = kernel(text)
    tables = [np.zeros(3, np.int64)] * (2 if what == "two tables" else 1)
    with pytest.raises(CannotCompile) as caught:
        Compiled(function)(*tables, *([1] if what == "defaults" else []))
    assert words in str(caught.value)
    assert "kernel" in str(caught.value)


def test_closures_and_functions_without_source_are_refused() -> None:
    number = 3

    def closure(t):  # type: ignore[no-untyped-def]
        return t[0] + number

    with pytest.raises(CannotCompile, match="variables of the function around it"):
        Compiled(closure)(np.zeros(1, np.int64))
    space: dict[str, Any] = {}
    exec("def hidden(t):\n    return t[0]\n", space)
    with pytest.raises(CannotCompile, match="is not there"):
        Compiled(space["hidden"])(np.zeros(1, np.int64))


@pytest.mark.parametrize(
    "table", [np.zeros((4, 4), np.int64)[:, :2], np.zeros((4, 4), np.int64).T, np.zeros((2, 2), np.float32), np.zeros((2, 2), object)]
)
def test_tables_that_kernels_cannot_read_are_refused(table: Any) -> None:
    with pytest.raises(TypeError, match="row after row"):
        Compiled(kernel("def f(t):\n    return t[0, 0]\n"))(table)


def test_a_table_must_be_as_wide_as_was_promised() -> None:
    function = Compiled(kernel("def f(world):\n    words = world.words\n    return words[1, 0]\n"), widths={"words": 3})
    assert function(world()) == 300_000
    with pytest.raises(TypeError, match="3 columns wide"):
        function(world()._replace(words=np.zeros((4, 4), np.int64)))


# Keeping machine code


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_code_is_kept_and_what_it_depends_on_is_its_key(own_directory: Path) -> None:
    text = "def g(x):\n    return x + N\n\ndef f(t):\n    return g(t[0])\n"
    table = np.array([5])
    assert Compiled(kernel(text, N=1))(table) == 6
    (first,) = files(own_directory)
    assert Compiled(kernel(text, N=1))(table) == 6
    assert files(own_directory) == [first]
    assert Compiled(kernel(text, N=2))(table) == 7  # a constant
    assert Compiled(kernel(text.replace("x + N", "x - N"), N=1))(table) == 4  # what it calls
    assert Compiled(kernel(text, N=1))(table.astype(np.float64).view(np.int64)) != 6
    assert len(files(own_directory)) == 3
    assert Compiled(kernel(text, N=1))(table.astype(np.int32)) == 6  # types
    assert Compiled(kernel(text, N=1), called=[kernel(text, N=1)])(table) == 6
    assert len(files(own_directory)) == 4


def test_who_watches_is_told_of_compiling_and_of_nothing_else() -> None:
    told: list[bool] = []
    text, table = "def f(t):\n    return t[0] + 7\n", np.array([5])
    with watched(told.append):
        assert Compiled(kernel(text))(table) == 12
        assert told == [True, False]
        assert Compiled(kernel(text))(table) == 12  # from the disk
    assert Compiled(kernel(text))(table.astype(np.int32)) == 12  # nobody watches any more
    assert told == [True, False]


def test_code_of_another_processor_is_not_taken(own_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def f(t):\n    return t[0]\n"
    Compiled(kernel(text))(np.array([5]))
    monkeypatch.setenv("MILLRACE_CPU", "generic")
    assert Compiled(kernel(text))(np.array([5])) == 5
    assert len(files(own_directory)) == 2


def test_a_damaged_file_counts_as_missing(own_directory: Path) -> None:
    text = "def f(t):\n    return t[0]\n"
    Compiled(kernel(text))(np.array([5]))
    (path,) = own_directory.iterdir()
    whole = path.read_bytes()
    for damaged in (b"", whole[:40], whole[:-1], whole[:-1] + b"x"):
        path.write_bytes(damaged)
        assert Compiled(kernel(text))(np.array([5])) == 5
        assert path.read_bytes() == whole


def test_the_directory_stays_bounded(own_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "BYTES_MAX", 1000)
    for n in range(20):
        store.save(f"key{n}", bytes(200))
        os.utime(own_directory / f"key{n}.kernel", ns=(n, n))
    assert store.load("key19") == bytes(200)
    store.save("last", bytes(200))
    kept = [path.name for path in own_directory.iterdir()]
    assert len(kept) == 4
    assert {"last.kernel", "key19.kernel"} <= set(kept)


def test_a_directory_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_KERNELS", str(tmp_path / "first"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "second"))
    assert store.directory() == tmp_path / "first" / "millrace-kernels"
    own = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: own + 1)
    assert str(tmp_path) not in str(store.directory())


IN_A_PROCESS = """
import numpy as np, sys
from tests.engine.core.test_compiler import COLLATZ, kernel
from engine.core.compiler import Compiled
function = Compiled(kernel(COLLATZ))
print("ready", flush=True)
sys.stdin.readline()
print(function(np.zeros(2, np.int64), 200))
"""


@pytest.mark.slow
def test_of_processes_that_need_the_same_code_one_compiles_it(own_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_COMPILED", str(tmp_path / "compiled"))
    command = [sys.executable, "-c", IN_A_PROCESS]
    processes = [subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    answers = [process.communicate("go\n", timeout=60)[0] for process in processes]
    assert answers == ["124\n"] * 3
    assert [name for name in files(own_directory) if not name.endswith(".kernel")] == []
    assert len(files(own_directory)) == 1
    assert len((tmp_path / "compiled").read_text().splitlines()) == 1


def test_a_process_that_died_while_it_compiled_holds_nobody_up(own_directory: Path) -> None:
    """Its lock went with it; its file did not."""
    text = "def f(t):\n    return t[0] + 77\n"
    Compiled(kernel(text))(np.array([5]))
    (code,) = own_directory.iterdir()
    code.unlink()
    (own_directory / f"{code.stem}.lock").touch()
    assert Compiled(kernel(text))(np.array([5])) == 82
    assert files(own_directory) == [code.name]


def test_comments_docstrings_and_layout_do_not_compile_anew(own_directory: Path) -> None:
    plain = "def g(x):\n    return x + 1\n\ndef f(t):\n    return g(t[0])\n"
    told = 'def g(x):\n    """Says more."""\n    # and more\n    return (x +\n            1)\n\n\n\ndef f(t):  # here\n    return g(t[0])\n'
    assert Compiled(kernel(plain))(np.array([5])) == 6
    (first,) = files(own_directory)
    assert Compiled(kernel(told))(np.array([5])) == 6
    assert files(own_directory) == [first]
    assert Compiled(kernel(plain.replace("x + 1", "x + 2")))(np.array([5])) == 7
    assert len(files(own_directory)) == 2


AMONG_LARGE_TABLES = """
import numpy as np
from engine.core.compiler import machine, store
from engine.core.compiler.kernel import ENTRY
from tests.support.agreement import template, traced

traced(template("nexmark_q3", horizon_s=0.01))
largest = sorted(store.directory().glob("*.kernel"), key=lambda path: path.stat().st_size)[-3:]
codes = [store.load(path.stem) for path in largest]
tables = []
for _ in range(300):
    tables.append(np.empty(1 << 30, np.int64))  # as worlds have them: room that nobody touches
    for code in codes:
        machine.load(code, ENTRY)
print(len(codes) > 0)
"""


@pytest.mark.slow
def test_code_finds_room_between_large_tables() -> None:
    process = subprocess.run([sys.executable, "-c", AMONG_LARGE_TABLES], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (process.stdout, process.returncode) == ("True\n", 0), process.stderr


def test_threads_that_compile_the_same_do_not_disturb_each_other() -> None:
    function = Compiled(kernel(COLLATZ))
    answers: list[int] = []
    threads = [threading.Thread(target=lambda: answers.append(function(np.zeros(2, np.int64), 200))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [124] * 4


def add_to_element(table: Any, row: int, column: int, more: int) -> int:
    table[row, column] += more
    return table[row, column]


def test_indices_are_checked_where_that_is_asked_for(monkeypatch: pytest.MonkeyPatch, own_directory: Path) -> None:
    monkeypatch.setenv("MILLRACE_CHECK", "1")
    table = np.arange(6, dtype=np.int32).reshape(2, 3)
    add = compiled(add_to_element)
    assert add(table, 1, 2, 10) == 15
    for row, column, said in ((2, 0, "index 2 of 2"), (-1, 0, "index -1 of 2"), (0, 3, "index 3 of 3"), (1, -1, "index -1 of 3")):
        with pytest.raises(IndexError, match=rf"test_compiler.add_to_element, line \d+: `table\[row, column\]`: {said}"):
            add(table, row, column, 10)
    assert table.tolist() == [[0, 1, 2], [3, 4, 15]]
    with pytest.raises(IndexError, match="index 0 of 0"):
        add(np.zeros((1, 0), np.int32), 0, 0, 1)


BIG = 0x1E3779B97F4A7C15
WORDS = {
    "plain numbers": ("def f(t):\n    return mixed(t[0], 3, BIG)\n", [5]),
    "numbers given from outside": ("def f(t, n):\n    return mixed(t[0], n, n * BIG)\n", [5, 0, -3, MOST, LEAST, 2**64 + 7]),
    "two plain numbers": ("def f(t, n):\n    x = 3\n    return x * BIG * BIG + n * 7 * BIG\n", [2]),
    "steps": ("def f(t):\n    x = 1\n    for k in range(5, 60):\n        x *= k + BIG\n    return x\n", [0]),
    "shapes": ("def f(t):\n    return mixed(t[0], t.shape[0], 2) * t.shape[0] * BIG * BIG\n", [5]),
    "narrow": ("def f(t, n, a, b):\n    a[1] = a[0] * a[0]\n    return a[0] * a[0] + b[0] * b[0] + b[0] * -2 + a[1]\n", [5]),
    "by nothing": ("def f(t):\n    n = 3\n    return n // (n - 3) + n % (n - 3) + LEAST // -1 + (1 if n / (n - 3) > 1e300 else 0)\n", [5]),
    "far shifts": ("def f(t, n):\n    m = 70\n    return (n << m) + (n >> m) + (1 << n)\n", [5, -1, 63, 64, 1 << 40]),
    "truths": (
        "def f(t, n):\n    x = n > 2\n    y = not x\n    z = x\n    w = 5\n    w = n < 9\n"
        "    return (x + z + z) * 100 + (-x) + (~y) + abs(x) + max(y, x, y) * 10 + w + w + ((n > 1) if n < 0 else 7) + (x & z | y)\n",
        [1, 5],
    ),
    "parts of floats": ("def f(t, n):\n    return int(n / 7) + int(-n / 0.25) + int(n * 1e300) + int(float(n) / 0 - n / 0)\n", [0, 5, -5]),
    "floats": (
        "def f(t, n):\n    if n > 3:\n        x = 0.5\n    x = n\n    y = n if n > 9 else 0.25\n"
        "    return int(x * x / 1e30) + int(y * 8 * BIG * 1e-12) + int(x / 2)\n",
        [5, MOST, 12],
    ),
    "a table that is given a name": ("def f(t, n):\n    u = t\n    u[0], m = n * BIG, n < 3\n    return u[0] * 3 + m + m\n", [2, 5]),
    "nothing": ("def f(t):\n    t[0] += 1\n", [5]),
}


@pytest.mark.parametrize("what", WORDS)
def test_numbers_are_words_without_the_compiler(what: str) -> None:
    """Wherever they come from: nothing grows beyond 64 bits, nothing warns, nothing is refused."""
    text, given = WORDS[what]
    mix = "def mixed(a, b, c):\n    return (a ^ b * BIG) * (c + BIG) ^ (a >> 3) * 7\n\n"
    function = kernel(mix + text, BIG=BIG, LEAST=LEAST)
    more = (np.array([2**31 - 1, 0], np.int32), np.array([2**32 - 1, 0], np.uint32)) if what == "narrow" else ()
    for n in given:
        outcomes = []
        for run in (Compiled(function), in_python(function)):
            table, others = np.array([n if abs(n) < 1 << 63 else 0, 0]), [one.copy() for one in more]
            words = () if text.startswith("def f(t):") else (n,)
            outcomes.append((run(table, *words, *others), table.tolist(), [one.tolist() for one in others]))
        assert outcomes[0] == outcomes[1]
        assert type(outcomes[1][0]) is int


def test_without_the_compiler_functions_run_as_they_stand(monkeypatch: pytest.MonkeyPatch, own_directory: Path) -> None:
    monkeypatch.setenv("MILLRACE_COMPILE", "0")
    assert Compiled(kernel("def f(t):\n    return t[0] * t[0]\n"))(np.array([MOST])) == 1
    assert not own_directory.exists()


def test_without_the_compiler_a_debugger_sees_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """File, lines and names are the kernel's own, and what only Python knows may be put into it to look on."""
    monkeypatch.setenv("MILLRACE_COMPILE", "0")
    seen: list[Any] = []
    function = kernel("def f(t):\n    x = 3\n    look(x)\n    return t[7]\n", look=lambda *values: seen.extend(values))
    with pytest.raises(IndexError) as caught:
        Compiled(function)(np.array([MOST]))
    last = caught.traceback[-1]
    assert (last.frame.code.raw.co_filename, last.lineno + 1) == (function.__code__.co_filename, 4)
    assert (last.frame.f_locals["x"], seen) == (3, [3])


def test_the_decorator_keeps_name_and_description() -> None:
    @compiled
    def described(t):  # type: ignore[no-untyped-def]
        """What it does."""
        return t[0]

    assert (described.__name__, described.__doc__) == ("described", "What it does.")
    assert described(np.array([3])) == 3
