"""Starts model processes as forks of one that has imported litellm: the import takes four seconds, a fork a hundredth.

As `python -m tests.fakes.forked_models FD` it is the process that forks. Given the path of its socket instead, as
`python -I -S forked_models.py PATH`, it stands for one model process: it hands its pipes over, and lives as long as
the fork does.
"""

import os
import socket
import sys


def stand_for_fork(path: str) -> None:
    """Have a process forked that reads and writes the pipes of this one, and wait for its end."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        folder = os.getcwdb()  # noqa: PTH109 - pathlib takes as long to import as all else here
        place = b"\0".join((folder, *(b"%s=%s" % item for item in os.environb.items())))
        socket.send_fds(connection, [len(place).to_bytes(4, "big")], [0, 1])
        connection.sendall(place)
        connection.recv(1)


def serve(listener: socket.socket) -> None:
    """Import all that a model process imports, then fork for each connection until standard input ends."""
    import gc  # noqa: PLC0415 - what stands for a fork starts without these imports
    import select  # noqa: PLC0415 - likewise
    import signal  # noqa: PLC0415 - likewise
    from importlib import import_module  # noqa: PLC0415 - likewise

    from roamtui.models.litellm_worker import _load_litellm, prepare_environment  # noqa: PLC0415 - likewise

    prepare_environment(os.environ)
    _load_litellm()
    # litellm imports these, and loads its tokenizer, for the first question only.
    late = ("openai.resources", "litellm.litellm_core_utils.default_encoding", "httpcore", "anyio._backends._asyncio")
    for name in late:
        import_module(name)
    gc.freeze()
    children = set[int]()
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if listener not in ready:
            break
        children.add(_fork(listener))
        children -= {child for child in children if os.waitpid(child, os.WNOHANG)[0]}
    for child in children:
        os.kill(child, signal.SIGKILL)  # its program may only end it at its own end
        os.waitpid(child, 0)


def _fork(listener: socket.socket) -> int:
    connection, _ = listener.accept()
    header, pipes, _, _ = socket.recv_fds(connection, 4, 2)
    with connection, connection.makefile("rb") as sent:
        place = sent.read(int.from_bytes(header, "big"))
        child = os.fork()
        if not child:
            try:
                listener.close()
                _live(connection, pipes, place)
            finally:
                os._exit(1)
    for pipe in pipes:
        os.close(pipe)
    return child


def _live(connection: socket.socket, pipes: list[int], place: bytes) -> None:
    """Be a model process until its input ends, or until the process that stands for it was killed."""
    import threading  # noqa: PLC0415 - likewise

    from roamtui.models import litellm_worker  # noqa: PLC0415 - likewise

    for standard, pipe in enumerate(pipes):
        os.dup2(pipe, standard)
        os.close(pipe)
    folder, *variables = place.split(b"\0")
    os.chdir(folder)
    os.environb.clear()
    os.environb.update(variable.partition(b"=")[::2] for variable in variables)

    def end_with_it() -> None:
        connection.recv(1)
        os._exit(1)

    threading.Thread(target=end_with_it, daemon=True).start()
    litellm_worker.main()


if __name__ == "__main__":
    if sys.argv[1].isdecimal():
        serve(socket.socket(fileno=int(sys.argv[1])))
    else:
        stand_for_fork(sys.argv[1])
