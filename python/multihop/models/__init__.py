"""Closed forms of papers, as documented functions: times in seconds, sizes in bytes; arguments broadcast."""
