"""Programs for ns-2, and what they said."""
