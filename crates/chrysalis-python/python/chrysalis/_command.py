"""The ``chrysalis`` command."""

from __future__ import annotations

import signal
import sys

from . import _native


def main() -> int:
    """Runs the command with the arguments of this process."""
    # The command has its own way of ending on Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["chrysalis", *sys.argv[1:]])
