"""`python -m engine` is the command `millrace`."""

import sys

from engine.simulation.command_line import main

if __name__ == "__main__":
    sys.exit(main())
