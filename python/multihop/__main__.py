"""`python -m multihop` is the command `multihop`."""

from multihop.cli import main

main()
