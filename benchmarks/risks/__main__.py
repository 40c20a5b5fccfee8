"""`python -m benchmarks.risks [number ...] [--json]`: try the risks (all, or those named) and print a line for each finding."""

from __future__ import annotations

import argparse
import importlib
import sys

MODULES = {
    1: "one_kernel",
    2: "admission",
    3: "many_threads",
    4: "record_lifetime",
    5: "bursts",
    6: "short_lookahead",
    7: "same_bytes",
    8: "price_origins",
    9: "policy_state",
    10: "mutants",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.risks", description=__doc__)
    parser.add_argument("numbers", nargs="*", type=int, choices=[*MODULES, []], metavar="number", help="1 to 10; none: all")
    parser.add_argument("--json", action="store_true", help="JSON lines")
    arguments = parser.parse_args()
    failed = 0
    for number in arguments.numbers or MODULES:
        for finding in importlib.import_module(f"benchmarks.risks.{MODULES[number]}").measure():
            print(finding.as_json() if arguments.json else finding.as_text(), flush=True)
            failed += finding.passed is False
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
