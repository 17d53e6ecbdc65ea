"""The commands of the program: each declares its arguments beside the function that runs it.

A command imports its code when it runs, so that `roamtui --help` and other commands stay fast.
"""
