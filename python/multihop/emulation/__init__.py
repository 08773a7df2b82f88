"""Real programs over the simulated air, in real time.

An isolated process (`isolate`) has a network namespace with a TUN device for each node, and runs the loop
between these devices and a run (`session`). When the process ends, the kernel removes namespaces, devices and
programs. `client` is for programs outside of the process, and `service` serves their requests; `outcome` is
the result.
"""
