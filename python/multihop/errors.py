"""Errors that the person at the keyboard can do something about."""


class UserError(ValueError):
    """What was asked for cannot be done; the message says why and what would do."""


class OutputError(UserError):
    """What was asked for makes sense, but its output cannot be written: the disk is full or broken."""


class Interrupted(Exception):  # noqa: N818 - not an error: the person at the keyboard wanted it
    """Work was interrupted; the message says what is kept and how to go on."""
