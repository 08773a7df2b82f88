"""Limits of airtime without a run: bounds on goodput, and the rates that maximise a sum of utilities."""
