"""Tables of runs: columns and derived columns, statistics over seeds, folders of results, provenance."""
