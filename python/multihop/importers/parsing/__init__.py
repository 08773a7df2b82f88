"""From bytes to records: encodings and compression, notations, field values, and broken records."""
