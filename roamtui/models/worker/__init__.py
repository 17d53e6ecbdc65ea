"""The process in which litellm runs: what is sent to it and back, how it is started, and what it does.

`process` is the side of the program; `jobs` is shared; all else runs inside the process.
"""
