"""Turn text into a `Library`, a tree of nodes with ids, paths and exact ranges."""
