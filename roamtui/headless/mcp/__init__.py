"""`roamtui mcp`: the agent's tools for any program that speaks the Model Context Protocol.

`shared_library.py` holds what all clients share, `client_session.py` what one of them has open. They know nothing of
the protocol; `server.py` and `serving.py` do, by the official SDK, which is an extra.
"""
