"""Controllers, which carry out the actions of the app and of the main screen."""
