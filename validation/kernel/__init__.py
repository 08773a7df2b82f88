"""TCP of the Linux kernel beside the simulated one, over the same air.

`cells` reads what is compared from `cells.toml`. `emulated` runs the kernel's TCP with the program `traffic` at the
nodes; `recorded` keeps its figures. `simulated` runs ours. `verdicts` compares both, and `pages` writes the page.
"""
