"""Why a flow starves or is slow: causes from counters of runs, remedies tried by runs, both in words."""
