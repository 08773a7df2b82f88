"""Runs of multihop against closed forms, ns-2 and ns-3; `python -m validation` writes the page about them."""
