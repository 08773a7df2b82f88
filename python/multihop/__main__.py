"""The command `multihop`, which is also `python -m multihop`."""

from __future__ import annotations

from multihop.base import signals


def main() -> None:
    """Runs the command that was typed and exits."""
    signals.leave_at_once()
    # Imports take most of a second.
    from multihop import cli

    cli.main()


if __name__ == "__main__":
    main()
