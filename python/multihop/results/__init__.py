"""What runs leave, as tables: columns and how they are computed, statistics over seeds, folders, provenance."""
