"""The number of letters to insert, delete or replace that make one text another (Levenshtein distance), which is a metric."""

from typing import Any


def edits(letters: Any, a: Any, a_length: Any, b: Any, b_length: Any, most: Any, scratch: Any) -> Any:
    """The number of edits between two texts; some number above `most` if there are more.

    letters: all texts, as code points. a, b: where the two begin. scratch: at least b_length + 1 words.
    """
    found = abs(a_length - b_length)
    if found <= most:
        for n in range(b_length + 1):
            scratch[n] = n
        i = 0
        found = b_length if a_length == 0 else 0
        while i < a_length and found <= most:
            before = scratch[0]
            scratch[0] = i + 1
            least = i + 1
            for n in range(b_length):
                above = scratch[n + 1]
                found = before if letters[a + i] == letters[b + n] else before + 1
                found = min(found, min(above, scratch[n]) + 1)
                before = above
                scratch[n + 1] = found
                least = min(least, found)
            i += 1
            found = scratch[b_length] if i == a_length else least  # no text gets nearer than the least so far
    return found
