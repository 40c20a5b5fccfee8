"""The dictionary of a run: texts to integer codes and back, because records inside the engine consist of 64-bit words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray


class Strings:
    """Codes 0, 1, 2, ... in the order of first registration.

    All texts of a run are registered while it is built (streams, then constants of expressions), never while it runs. So the codes depend
    only on the document, not on how the run is divided.
    """

    def __init__(self, texts: Iterable[str] = ()):
        self._texts: list[str] = []
        self._codes: dict[str, int] = {}
        for text in texts:
            self.code(text)

    def code(self, text: str) -> int:
        """Return the text's code; a new text gets the next one."""
        code = self._codes.setdefault(text, len(self._texts))
        if code == len(self._texts):
            self._texts.append(text)
        return code

    def codes(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return the codes of many texts; new ones are registered in the given order. Shape (n,)."""
        return np.fromiter((self.code(text) for text in texts), np.int64, len(texts))

    def text(self, code: int) -> str:
        """Return the text of a code. Raises KeyError if there is none."""
        if not 0 <= code < len(self._texts):
            raise KeyError(f"string code {code} is unknown; codes are 0 .. {len(self._texts) - 1}")
        return self._texts[code]

    def texts(self, codes: Iterable[int]) -> list[str]:
        return [self.text(int(code)) for code in codes]

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, text: object) -> bool:
        return text in self._codes

    def as_list(self) -> list[str]:
        """Return all texts in order of their codes; `Strings(as_list())` is the same dictionary."""
        return list(self._texts)
