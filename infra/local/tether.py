"""Runs a command that ends when its parent does, however the parent ends.

The parent holds the other end of standard input. When it closes, by an orderly stop or by `kill -9`, the command is
asked to stop, then made to. Run as `python tether.py COMMAND…`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

_PATIENCE_SECONDS = 10.0


def main(command: list[str]) -> int:
    """The command's exit status."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # only the parent's end counts
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=_default_signals)
    threading.Thread(target=_end_with_parent, args=(child,), daemon=True).start()
    return child.wait()


def _default_signals() -> None:
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _end_with_parent(child: subprocess.Popen[bytes]) -> None:
    while os.read(0, 1024):
        pass
    child.terminate()
    try:
        child.wait(_PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
