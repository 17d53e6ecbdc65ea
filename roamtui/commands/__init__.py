"""The commands of the program. Each declares its arguments next to the function that runs it.

A command imports its code when it runs, so that `roamtui --help` and other commands stay fast.
"""
