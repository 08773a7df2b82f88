"""Shared helpers: errors, escaping of untrusted text, atomic file writing, signal handling."""
