"""Real programs over the simulated air, in real time.

A process that has isolated itself (`isolate`) holds a network namespace for each node, with a TUN device in
it, and the loop between these devices and a run (`session`). When it ends, by whatever means, the kernel
takes away namespaces, devices and programs with it. `client` is for programs outside of it, `service` its
other end; `outcome` is what comes of it.
"""
