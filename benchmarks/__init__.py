"""Programs that measure Millrace, each run as `python -m benchmarks.<name>`."""

import sys

from .requirements import excepthook

if sys.argv[0] == "-m":  # such a program is about to run; who imports a part of one keeps its own hook
    sys.excepthook = excepthook
