"""One run, or variants by seeds: tables, estimates, contrasts, words, and their folder; nothing draws."""
