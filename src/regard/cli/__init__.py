"""The command line: one file per command."""

import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command line; what Ctrl-C breaks off, such as an import, ends without a traceback, with status 130."""
    interrupted = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    catches = (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )  # else it is ignored, or another's
    try:
        if catches:
            signal.signal(signal.SIGINT, interrupt)
        from regard.cli.app import main as run

        run()
    except (Exception, KeyboardInterrupt):  # libraries make other errors of it
        if not interrupted:
            raise
        sys.exit(130)
    finally:
        if catches:
            signal.signal(signal.SIGINT, signal.default_int_handler)


__all__ = ["main"]
