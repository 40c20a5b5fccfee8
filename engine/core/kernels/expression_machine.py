"""The stack machine that evaluates compiled expressions on records.

A kernel (`engine.core.compiler`), which plain Python runs as well and with the same words; callers then ignore NumPy's overflow warnings,
since integers wrap at 64 bits. `engine.spec.expressions.compiler` writes the programs.

A program is `code[first:last]`, rows of (opcode, argument). Row `first` is the header: its argument is the index of the program's first
constant, so that programs can be packed one after another (`pack`). Jumps count from `first`, constants from the header's index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.compiler import rare

STACK_WORDS = 128
"""Words that a caller's stack must have; the parser refuses expressions that would need more."""

HEADER = 0  # argument: index of the program's first constant
CONSTANT = 1  # push constant [argument]
FIELD = 2  # push field [argument] of the record
TO_FLOAT = 3  # int -> float
ADD = 4
SUBTRACT = 5
MULTIPLY = 6
FLOOR_DIVIDE = 7  # by zero: 0 and an error
MODULO = 8  # by zero: 0 and an error
NEGATE = 9
ABSOLUTE = 10
LEAST = 11
GREATEST = 12
LESS = 13
LESS_EQUAL = 14
EQUAL = 15  # of words: ints, bools, strings, timestamps
MEMBER = 16  # is the word among the constants? argument: where their number stands, the constants themselves follow it
ADD_FLOAT = 17
SUBTRACT_FLOAT = 18
MULTIPLY_FLOAT = 19
DIVIDE_FLOAT = 20
NEGATE_FLOAT = 21
ABSOLUTE_FLOAT = 22
LEAST_FLOAT = 23
GREATEST_FLOAT = 24
LESS_FLOAT = 25
LESS_EQUAL_FLOAT = 26
EQUAL_FLOAT = 27
MEMBER_FLOAT = 28
NOT = 29
JUMP = 30  # to row first + argument
JUMP_IF_FALSE = 31  # takes the condition off the stack
JUMP_IF_FALSE_ELSE_DROP = 32  # `and`: keeps a false value as the result, drops a true one and goes on
JUMP_IF_TRUE_ELSE_DROP = 33  # `or`
ONE_NAN = 34  # any NaN becomes the one NaN, so that equal results have equal bits; last in a float program
SQUARE_ROOT = 35  # of a float
LOOK_UP = 36  # the word's place in a table; argument: where it stands in the run's constants that the table begins
RARE = 37  # argument: one of the following; they share one call, so that the others lose nothing by them

CUT, DOWN, UP, NEAREST = 0, 1, 2, 3  # float -> int. Out of range: the nearest int (NaN: 0) and an error
YEAR, MONTH, DAY = 4, 5, 6  # of a day since 1970-01-01
HASH_WORD = 7  # the word's hash, seeded by the word below

NAN_WORD = 0x7FF8000000000000
INFINITY_WORD = 0x7FF0000000000000
NEGATIVE_INFINITY_WORD = -0x10000000000000


def evaluate(code: Any, first: int, last: int, constants: Any, words: Any, row: int, column0: int, stack: Any, stack_f: Any) -> int:
    """Run the program `code[first:last]` on one record; its result is left in `stack[0]`. Returns the number of errors met (0 or 1).

    code: int64 (rows, 2). constants: int64 (n,). words: int64 (records, columns); field f is `words[row, column0 + f]`.
    stack: int64 (STACK_WORDS,). stack_f: float64 view of the same memory.
    """
    errors = 0
    base = code[first, 1]
    top = -1  # index of the topmost word
    at = first + 1
    while at < last:
        operation = code[at, 0]
        argument = code[at, 1]
        at += 1
        if operation == CONSTANT:
            top += 1
            stack[top] = constants[base + argument]
        elif operation == FIELD:
            top += 1
            stack[top] = words[row, column0 + argument]
        elif operation == TO_FLOAT:
            stack_f[top] = float(stack[top])
        elif operation == ADD:
            top -= 1
            stack[top] = stack[top] + stack[top + 1]
        elif operation == SUBTRACT:
            top -= 1
            stack[top] = stack[top] - stack[top + 1]
        elif operation == MULTIPLY:
            top -= 1
            stack[top] = stack[top] * stack[top + 1]
        elif operation == FLOOR_DIVIDE:
            top -= 1
            if stack[top + 1] == 0:
                stack[top] = 0
                errors = 1
            elif stack[top + 1] == -1:  # the processor traps on -2^63 // -1; negation wraps
                stack[top] = -stack[top]
            else:
                stack[top] = stack[top] // stack[top + 1]
        elif operation == MODULO:
            top -= 1
            if stack[top + 1] == 0:
                stack[top] = 0
                errors = 1
            elif stack[top + 1] == -1:
                stack[top] = 0
            else:
                stack[top] = stack[top] % stack[top + 1]
        elif operation == NEGATE:
            stack[top] = -stack[top]
        elif operation == ABSOLUTE:
            if stack[top] < 0:
                stack[top] = -stack[top]
        elif operation == LEAST:
            top -= 1
            if stack[top + 1] < stack[top]:
                stack[top] = stack[top + 1]
        elif operation == GREATEST:
            top -= 1
            if stack[top + 1] > stack[top]:
                stack[top] = stack[top + 1]
        elif operation == LESS:
            top -= 1
            stack[top] = 1 if stack[top] < stack[top + 1] else 0
        elif operation == LESS_EQUAL:
            top -= 1
            stack[top] = 1 if stack[top] <= stack[top + 1] else 0
        elif operation == EQUAL:
            top -= 1
            stack[top] = 1 if stack[top] == stack[top + 1] else 0
        elif operation == MEMBER:
            found = 0
            start = base + argument + 1
            for index in range(start, start + constants[base + argument]):
                if constants[index] == stack[top]:
                    found = 1
                    break
            stack[top] = found
        elif operation == ADD_FLOAT:
            top -= 1
            stack_f[top] = stack_f[top] + stack_f[top + 1]
        elif operation == SUBTRACT_FLOAT:
            top -= 1
            stack_f[top] = stack_f[top] - stack_f[top + 1]
        elif operation == MULTIPLY_FLOAT:
            top -= 1
            stack_f[top] = stack_f[top] * stack_f[top + 1]
        elif operation == DIVIDE_FLOAT:
            top -= 1
            if stack_f[top + 1] != 0.0:
                stack_f[top] = stack_f[top] / stack_f[top + 1]
            elif stack_f[top] == 0.0 or stack_f[top] != stack_f[top]:
                stack[top] = NAN_WORD
            elif (stack[top] < 0) != (stack[top + 1] < 0):  # the sign bits, zero's included
                stack[top] = NEGATIVE_INFINITY_WORD
            else:
                stack[top] = INFINITY_WORD
        elif operation == NEGATE_FLOAT:
            stack_f[top] = -stack_f[top]
        elif operation == ABSOLUTE_FLOAT:
            stack_f[top] = abs(stack_f[top])
        elif operation == LEAST_FLOAT:
            top -= 1
            if stack_f[top + 1] < stack_f[top]:
                stack_f[top] = stack_f[top + 1]
        elif operation == GREATEST_FLOAT:
            top -= 1
            if stack_f[top + 1] > stack_f[top]:
                stack_f[top] = stack_f[top + 1]
        elif operation == LESS_FLOAT:
            top -= 1
            stack[top] = 1 if stack_f[top] < stack_f[top + 1] else 0
        elif operation == LESS_EQUAL_FLOAT:
            top -= 1
            stack[top] = 1 if stack_f[top] <= stack_f[top + 1] else 0
        elif operation == EQUAL_FLOAT:
            top -= 1
            stack[top] = 1 if stack_f[top] == stack_f[top + 1] else 0
        elif operation == MEMBER_FLOAT:
            found = 0
            start = base + argument + 1
            for index in range(start, start + constants[base + argument]):
                stack[top + 1] = constants[index]
                if stack_f[top + 1] == stack_f[top]:
                    found = 1
                    break
            stack[top] = found
        elif operation == NOT:
            stack[top] = 1 - stack[top]
        elif operation == JUMP:
            at = first + argument
        elif operation == JUMP_IF_FALSE:
            if stack[top] == 0:
                at = first + argument
            top -= 1
        elif operation == JUMP_IF_FALSE_ELSE_DROP:
            if stack[top] == 0:
                at = first + argument
            else:
                top -= 1
        elif operation == JUMP_IF_TRUE_ELSE_DROP:
            if stack[top] != 0:
                at = first + argument
            else:
                top -= 1
        elif operation == ONE_NAN:
            if stack_f[top] != stack_f[top]:
                stack[top] = NAN_WORD
        elif operation == LOOK_UP:
            stack[top] = constants[constants[base + argument] + stack[top]]
        elif operation == SQUARE_ROOT:
            if stack_f[top] < 0.0:
                stack[top] = NAN_WORD
            else:
                stack_f[top] = np.sqrt(stack_f[top])
        elif operation == RARE:
            errors |= do_rarely(argument, stack, stack_f, top)
            if argument == HASH_WORD:
                top -= 1
    return errors


@rare
def do_rarely(which: Any, stack: Any, stack_f: Any, top: Any) -> Any:
    """One of the operations that share RARE, in place. Returns the number of errors met."""
    if which == HASH_WORD:
        stack[top - 1] = hash_word(stack[top - 1], stack[top])
        return 0
    if which > NEAREST:
        stack[top] = civil(stack[top], which)
        return 0
    error = 0 if -9223372036854775808.0 <= stack_f[top] < 9223372036854775808.0 else 1
    stack[top] = whole(stack_f[top], which)
    return error


def whole(x: Any, way: Any) -> Any:
    """A float as an int: the fraction cut off, down, up, or to the nearest with halves away from zero. Out of range: the nearest int."""
    if x != x:
        return 0
    if x >= 9223372036854775808.0:
        return 9223372036854775807
    if x < -9223372036854775808.0:
        return -9223372036854775808
    n = int(x)
    if way == DOWN:
        if n > x:
            n -= 1
    elif way == UP:
        if n < x:
            n += 1
    elif way == NEAREST:
        fraction = x - float(n)
        if fraction >= 0.5:
            n += 1
        elif fraction <= -0.5:
            n -= 1
    return n


def hash_word(seed: Any, word: Any) -> Any:
    """xxHash64 of eight bytes, in signed arithmetic that wraps (Y. Collet, XXH64; Spark's xxhash64 of a bigint)."""
    x = word * -4417276706812531889
    x = ((x << 31) | ((x >> 33) & 0x7FFFFFFF)) * -7046029288634856825
    x ^= seed + 2870177450012600269
    x = ((x << 27) | ((x >> 37) & 0x7FFFFFF)) * -7046029288634856825 - 8796714831421723037
    x = (x ^ ((x >> 33) & 0x7FFFFFFF)) * -4417276706812531889
    x = (x ^ ((x >> 29) & 0x7FFFFFFFF)) * 1609587929392839161
    return x ^ ((x >> 32) & 0xFFFFFFFF)


def civil(day: Any, part: Any) -> Any:
    """Year, month or day of the month of a day since 1970-01-01 in the Gregorian calendar.

    Years are counted from March, so that the leap day is the last one, in eras of 400 years, which all have 146,097 days.
    """
    day += 719468  # since the first of March of the year 0
    era = day // 146097
    day -= era * 146097
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153  # from March, 0
    if part == DAY:
        return day - (153 * month + 2) // 5 + 1
    if part == MONTH:
        return month + 3 if month < 10 else month - 9
    return year + 400 * era + (1 if month >= 10 else 0)


def pack(programs: Sequence[tuple[Any, Any]]) -> tuple[Any, Any, Any]:
    """Put programs, each (code, constants), one after another: code int64 (rows, 2), constants int64 (n,), spans int64 (programs, 2).

    spans[k] is (first, last) of program k.
    """
    codes, spans, rows, words = [], np.zeros((len(programs), 2), np.int64), 0, 0
    for k, (code, constants) in enumerate(programs):
        moved = code.copy()
        moved[0, 1] += words
        codes.append(moved)
        spans[k] = rows, rows + len(code)
        rows, words = rows + len(code), words + len(constants)
    empty = [np.zeros(0, np.int64)]
    return np.concatenate([np.zeros((0, 2), np.int64), *codes]), np.concatenate(empty + [constants for _, constants in programs]), spans
