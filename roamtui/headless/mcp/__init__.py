"""`roamtui mcp`: the agent's tools for any program that speaks the Model Context Protocol.

`shelf.py` holds what all clients share, `desk.py` what one client has open, `pages.py` the sections as resources. They
know nothing of the protocol; `server.py` and `serving.py` do, by the official SDK, which is an extra.
"""
