"""Importers of mesh formats, one module each, which defines what its numbers mean. `catalogue` lists them."""
