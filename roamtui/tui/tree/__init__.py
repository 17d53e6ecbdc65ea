"""The outline tree: a scroll view that draws the lines it shows from the state that the core owns."""
