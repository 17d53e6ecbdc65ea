"""The actions of the main screen: asking, reading, finding, taking notes, reloading, switching conversation."""
