"""The parts of the main screen: each has a title line, a widget, and the actions of its scope."""
