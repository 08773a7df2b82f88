"""What all of the package uses: errors, text of others made visible, files written whole, signals."""
