"""Open sources as a `Library`, a tree of nodes with ids, paths and exact ranges; load its files and pages."""
