"""One run, and variants by seeds: tables, estimates, contrasts, words, and their folder. Nothing here draws."""
