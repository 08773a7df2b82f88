"""Remarks on results that say more about the set-up than about the schemes."""
