"""The command `multihop`, also as `python -m multihop`."""

from __future__ import annotations

from multihop.base import signals


def main() -> None:
    """Runs the command line and exits."""
    signals.leave_at_once()
    # Imports take most of a second.
    from multihop import cli

    cli.main()


if __name__ == "__main__":
    main()
