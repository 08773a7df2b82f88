"""Why a flow starves or is slow: causes from the books of runs, remedies tried by runs, and both in sentences."""
