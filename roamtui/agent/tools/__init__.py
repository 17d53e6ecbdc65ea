"""The tools that a model has: one file each, independent of each other. A bad argument is an answer, never an error."""
