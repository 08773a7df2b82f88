"""What runs leave, as tables: columns and their derivation, statistics over seeds, folders, provenance."""
