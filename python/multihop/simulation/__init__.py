"""From a scenario to runs of the engine: scenarios, seeds, threads, and the store of finished runs."""
