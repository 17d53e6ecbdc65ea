"""Open what a person named as a `Library`: paths, folders, sites and added sources; load files and pages."""
