"""From bytes to records: what a file was saved in, notations, values of fields, and broken records."""
