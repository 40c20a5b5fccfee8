"""Risk 10: two engines drift apart or share bugs.

Lines of the loop are broken one at a time; the suite has to notice. `benchmarks/mutants.py` does it, in half an hour and more.
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.requirements import require

from .finding import Finding


def measure() -> list[Finding]:
    require("pytest", "hypothesis", "simpy")
    done = subprocess.run([sys.executable, "-m", "benchmarks.mutants"], capture_output=True, text=True, check=False)
    if not done.stdout:
        raise RuntimeError(done.stderr)
    total = json.loads(done.stdout.splitlines()[-1])
    return [Finding(10, "lines of the engine broken one at a time", "at least 28 of 30 noticed", done.returncode == 0, total)]
