"""Runs a command and prints its cost as JSON: wall time and user CPU in seconds, the largest resident set in kB.

    python -S metered.py COMMAND...

It imports next to nothing: on Linux a child begins with the largest resident set that its parent ever had.
"""

import json
import os
import sys
import time

began = time.monotonic()
silent = os.open(os.devnull, os.O_WRONLY)
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, silent, 1)])
_, status, used = os.wait4(child, 0)
wall_s = time.monotonic() - began
peak_kb = used.ru_maxrss // 1024 if sys.platform == "darwin" else used.ru_maxrss
print(json.dumps({"wall_s": wall_s, "cpu_s": used.ru_utime, "peak_kb": peak_kb}))
sys.exit(os.waitstatus_to_exitcode(status))
