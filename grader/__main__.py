"""The program `grader`, which is also `python -m grader`."""

import sys

from grader.commands import stopping


def main() -> None:
    """Run the command line. From the first moment on, Ctrl-C prints a single line and no traceback."""
    stopping.install()
    try:
        from grader import cli  # takes a while, and a stop waits for it

        cli.main()
    except KeyboardInterrupt as stop:
        print("grader: stopped.", file=sys.stderr)
        raise SystemExit(stopping.status_of(stop)) from None


if __name__ == "__main__":
    main()
