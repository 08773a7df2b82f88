"""From scenarios to runs of the engine: scenarios, seeds, threads, logs, and the store of finished runs."""
