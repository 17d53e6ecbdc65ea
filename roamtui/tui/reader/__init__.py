"""The reader: a scroll view that renders the text of a document while a person scrolls."""
