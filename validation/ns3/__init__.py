"""Programs for ns-3, and what they said."""
