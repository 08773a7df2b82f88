"""One module per format of meshes: what its numbers mean, and how they are read. `catalogue` lists them."""
