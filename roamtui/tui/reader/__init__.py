"""The reader: a scroll view that renders the text of a section while it is scrolled through."""
