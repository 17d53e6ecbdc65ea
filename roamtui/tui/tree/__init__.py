"""The outline tree: a scroll view that draws its visible lines from the state that the core owns."""
