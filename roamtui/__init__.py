"""roamtui: ask questions of well-organised documents.

The names of `roamtui.api` are available here too. They are stable within a major version; everything else is
private. docs/python.md lists them, examples/ask.py uses them. ARCHITECTURE.md explains the layers.
"""

import sys

TYPE_CHECKING = False  # importing typing takes longer than `--version` may
if TYPE_CHECKING:
    from roamtui.api import *  # noqa: F403

__version__ = "2.0.0"

if not TYPE_CHECKING:  # a type checker would accept any name as one of ours

    def __getattr__(name: str) -> object:
        from roamtui.api import __all__  # noqa: PLC0415 - loaded on use: every command imports this module

        if name == "__all__":
            return __all__
        if name in __all__:
            return getattr(sys.modules["roamtui.api"], name)
        raise AttributeError(f"module 'roamtui' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
