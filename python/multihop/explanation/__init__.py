"""Why a flow starves or is slow: causes from the counters of runs, remedies tried by runs, and both in sentences."""
