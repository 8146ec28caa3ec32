"""Stops a stack whose owner died without doing so (kill -9, out of memory): `python -m skillhub.guardian ROSTER`.

The owner holds the other end of standard input; the system closes it when the owner is gone, however it went.
"""

import os
import sys
from pathlib import Path

from skillhub import processes

NAME = "guardian"


def main() -> None:
    sys.stdin.read()
    roster = processes.Roster(Path(sys.argv[1]))
    processes.stop([record for record in roster.read() if record.pid != os.getpid()])


if __name__ == "__main__":
    main()
