"""Shows roamtui a Python as Windows has it: without modules and calls of Unix, and with the habits of its files.

Python runs this file at its start in each process whose PYTHONPATH names this folder, so in the processes too that the
program starts itself. Only modules of roamtui see it: what they import has code for Windows of its own.
"""

from __future__ import annotations

import builtins
import errno
import os
import signal
import stat
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

from typing_extensions import override

_MODULES = frozenset(
    {
        *("_posixsubprocess", "crypt", "curses", "fcntl", "grp", "nis", "ossaudiodev", "posix", "pty", "pwd"),
        *("readline", "resource", "spwd", "syslog", "termios", "tty"),
    }
)
_OS = frozenset(
    {
        *("chown", "chroot", "confstr", "copy_file_range", "ctermid", "eventfd", "fchdir", "fchmod", "fchown"),
        *("fdatasync", "fork", "forkpty", "fpathconf", "fstatvfs", "getegid", "geteuid", "getgid", "getgrouplist"),
        *("getgroups", "getloadavg", "getpgid", "getpgrp", "getpriority", "getrandom", "getresgid", "getresuid"),
        *("getsid", "getuid", "getxattr", "initgroups", "killpg", "lchown", "listxattr", "lockf", "major"),
        *("memfd_create", "minor", "mkfifo", "mknod", "nice", "openpty", "pathconf", "pidfd_open", "pipe2"),
        *("posix_fadvise", "posix_fallocate", "posix_spawn", "posix_spawnp", "pread", "preadv", "pwrite", "pwritev"),
        *("readv", "register_at_fork", "removexattr", "sched_getaffinity", "sched_yield", "sendfile", "set_blocking"),
        *("setegid", "seteuid", "setgid", "setpgid", "setpriority", "setsid", "setuid", "setxattr", "splice"),
        *("statvfs", "sync", "sysconf", "tcgetpgrp", "tcsetpgrp", "ttyname", "uname", "wait", "wait3", "wait4"),
        *("writev", "O_ACCMODE", "O_ASYNC", "O_CLOEXEC", "O_DIRECT", "O_DIRECTORY", "O_DSYNC", "O_LARGEFILE"),
        *("O_NDELAY", "O_NOATIME", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK", "O_PATH", "O_RSYNC", "O_SYNC", "O_TMPFILE"),
    }
)
_SIGNALS = frozenset(
    {
        *("SIGALRM", "SIGCHLD", "SIGCONT", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGTTIN"),
        *("SIGTTOU", "SIGUSR1", "SIGUSR2", "SIGWINCH", "alarm", "pause", "pthread_kill", "pthread_sigmask"),
        *("setitimer", "siginterrupt", "sigpending", "sigtimedwait", "sigwait", "sigwaitinfo"),
    }
)
_O_BINARY = 1 << 29
_STEP_NS = 100
_FRAMES_MAX = 8
_text: set[int] = set()
"""Descriptors in whose files a line end becomes two characters."""


class _Shown(ModuleType):
    """A module of Python as roamtui sees it."""

    def __init__(self, real: ModuleType, absent: frozenset[str], others: dict[str, Any]) -> None:
        super().__init__(real.__name__)
        self.__dict__.update(others, _real=real, _absent=absent)

    @override
    def __getattr__(self, name: str) -> Any:
        if name in self._absent:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r} on Windows")
        return getattr(self._real, name)

    @override
    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._real, name, value)


def _open(path: str | os.PathLike[str], flags: int, mode: int = 0o777) -> int:
    if os.path.isdir(path):  # noqa: PTH112 - as `os` has it
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    file = os.open(path, flags & ~_O_BINARY, mode)
    (_text.discard if flags & _O_BINARY else _text.add)(file)
    return file


def _close(file: int) -> None:
    _text.discard(file)
    os.close(file)


def _write(file: int, data: bytes) -> int:
    if file not in _text:
        return os.write(file, data)
    os.write(file, bytes(data).replace(b"\n", b"\r\n"))
    return len(data)


def _utime(path: str | os.PathLike[str], *, ns: tuple[int, int] | None = None) -> None:
    if isinstance(path, int):
        raise TypeError("utime: path should be string, bytes or os.PathLike, not int")
    if ns is None:
        os.utime(path)
    else:
        os.utime(path, ns=(ns[0] // _STEP_NS * _STEP_NS, ns[1] // _STEP_NS * _STEP_NS))


def _chmod(path: str | os.PathLike[str], mode: int) -> None:
    if isinstance(path, int):
        raise TypeError("chmod: path should be string, bytes or os.PathLike, not int")
    os.chmod(path, mode)  # noqa: PTH101 - as `os` has it


_SHOWN = {
    "os": _Shown(
        os,
        _OS,
        {
            "name": "nt",
            "O_BINARY": _O_BINARY,
            "open": _open,
            "close": _close,
            "write": _write,
            "utime": _utime,
            "chmod": _chmod,
        },
    ),
    "signal": _Shown(signal, _SIGNALS, {}),
    "sys": _Shown(sys, frozenset(), {"platform": "win32"}),
}
_import = builtins.__import__


def _import_as_on_windows(name: str, globals: Any = None, *given: Any, **named: Any) -> Any:  # noqa: A002, ANN401
    if not _is_roamtui(globals or {}):
        return _import(name, globals, *given, **named)
    if name.partition(".")[0] in _MODULES:
        raise ModuleNotFoundError(f"No module named {name!r} on Windows", name=name)
    found = _import(name, globals, *given, **named)
    return _SHOWN.get(found.__name__, found)


def _is_roamtui(namespace: dict[str, Any]) -> bool:
    return str(namespace.get("__package__")).partition(".")[0] == "roamtui"


def _refuse_open_files(change: Callable[..., None]) -> Callable[..., None]:
    """Fail where a file that this process has open would be deleted, or another one take its place."""

    def change_closed(*paths: Any, **given: Any) -> None:  # noqa: ANN401 - as the function is called
        frame: FrameType | None = sys._getframe(1)
        for _ in range(_FRAMES_MAX):
            if frame is not None and _is_roamtui(frame.f_globals):
                for path in filter(_is_open, paths):
                    raise PermissionError(errno.EACCES, "It is being used by another process", os.fspath(path))
            frame = frame and frame.f_back
        change(*paths, **given)

    return change_closed


def _is_open(path: str | os.PathLike[str]) -> bool:
    try:
        wanted = os.lstat(path)
    except OSError:
        return False
    with os.scandir("/proc/self/fd") as entries:
        names = [entry.name for entry in entries]
    for name in names:
        try:
            found = os.fstat(int(name))
        except OSError:
            continue
        if stat.S_ISREG(found.st_mode) and (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
            return True
    return False


builtins.__import__ = _import_as_on_windows
for _name in ("unlink", "remove", "rename", "replace"):
    setattr(os, _name, _refuse_open_files(getattr(os, _name)))
