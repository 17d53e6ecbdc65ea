"""What every test gets: a home of its own, no keys, no network, and the real documents where they exist."""

import gc
import importlib
import ipaddress
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from msgspec.structs import replace

from roamtui.conversation.log import ConversationStore
from roamtui.models.worker_process import WORKER_COMMAND, WorkerProcess
from roamtui.settings import Settings
from tests.fakes import forked_models as forking
from tests.real_documents import PROJECT_DIR, find_data_dir

# A shell ignores ctrl+c for what it runs in the background, and `nohup` SIGHUP; programs under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
if sys.platform != "win32":
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

HIDDEN_PACKAGES = Path(__file__).parent / "fakes" / "no_embedder"
"""Packages that programs under test find before the real ones, without the model: most tests are about words."""
sys.path.insert(0, str(HIDDEN_PACKAGES))
os.environ["PYTHONPATH"] = str(HIDDEN_PACKAGES)
# Commands that the program prints begin with its path, unless the shell finds it.
os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))

_SLOW_MACHINES = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("ci", derandomize=True, max_examples=25, deadline=None, suppress_health_check=_SLOW_MACHINES)
settings.register_profile("nightly", max_examples=2_000, deadline=None, suppress_health_check=_SLOW_MACHINES)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

_HOME_VARIABLES = {
    "HOME": "",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_CACHE_HOME": ".cache",
    "XDG_STATE_HOME": ".local/state",
}
_SCREEN_VARIABLES = (
    *("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "EDITOR", "VISUAL", "BROWSER"),
    *("TERM_PROGRAM", "KITTY_WINDOW_ID"),
)
_KEY_ENDINGS = ("_API_KEY", "_API_BASE", "_BASE_URL", "_API_TOKEN", "_AUTH_TOKEN", "_ACCESS_KEY")
_PROVIDER_STARTS = ("OLLAMA_", "OPENAI_", "ANTHROPIC_", "AZURE_", "AWS_", "GOOGLE_", "GEMINI_", "LITELLM_")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_HANGING_SECONDS = 120
_homes = count()

gc.disable()  # until all tests are collected: what imports make is never garbage


@pytest.fixture
def packaged_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the package of the model be found that is hidden from other tests."""
    monkeypatch.setattr("sys.path", [path for path in sys.path if path != str(HIDDEN_PACKAGES)])
    importlib.invalidate_caches()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Run one worker more than there are processors, because tests often wait for processes and for the screen."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """End a test that hangs after two minutes, a slow one after four, and later where the processors are busy."""
    if config.getoption("timeout") is not None:
        return
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    for item in items:
        if item.get_closest_marker("timeout") is None:
            seconds = _HANGING_SECONDS * (2 if item.get_closest_marker("slow") else 1)
            item.add_marker(pytest.mark.timeout(seconds * max(1.0, load)))


def pytest_collection_finish() -> None:
    """Collect garbage rarely, and never look through modules and tests again: it was a third of the time of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
    gc.enable()


def pytest_report_header() -> str:
    """Say at the top whether tests will be skipped because the real documents are not here."""
    folder = find_data_dir()
    if folder.is_dir():
        return f"real documents: {folder}"
    return f"real documents: none at {folder}, so tests that need them are skipped (set ROAMTUI_DATA)"


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Return the folder of real documents, or skip the test if there is none."""
    folder = find_data_dir()
    if not folder.is_dir():
        if os.environ.get("CI") and os.environ.get("ROAMTUI_DATA"):
            pytest.fail(f"ROAMTUI_DATA is {folder}, which is not a folder.")
        pytest.skip("No real documents here: set ROAMTUI_DATA.")
    return folder


@pytest.fixture(scope="session")
def homes_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def home_dir(homes_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home, used by this test alone, without keys, proxies or settings in the environment."""
    home = homes_dir / str(next(_homes))
    home.mkdir()
    for name in list(os.environ):
        if _is_personal(name.upper()):
            monkeypatch.delenv(name)
    for name, folder in _HOME_VARIABLES.items():
        monkeypatch.setenv(name, str(home / folder))
    return home


def _is_personal(name: str) -> bool:
    if name.startswith("ROAMTUI_"):
        return name != "ROAMTUI_DATA"
    return (
        name in _SCREEN_VARIABLES
        or name in _PROXIES
        or name.endswith(_KEY_ENDINGS)
        or name.startswith(_PROVIDER_STARTS)
    )


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path / "conversations")


@pytest.fixture(autouse=True)
def network_attempts(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Refuse every connection that leaves this machine, and fail the test that tried one.

    A test of how the program behaves without a network clears the list at its end.
    """
    attempts: list[str] = []
    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, _guard_connect(getattr(socket.socket, name), attempts))
    monkeypatch.setattr(socket, "getaddrinfo", _guard_lookup(socket.getaddrinfo, attempts))
    yield attempts
    if attempts:
        pytest.fail(f"The test tried to reach {', '.join(attempts)}.")


def _guard_connect(connect: Callable[..., Any], attempts: list[str]) -> Callable[..., Any]:
    def guarded(self: socket.socket, address: Any) -> Any:  # noqa: ANN401 - any shape that sockets take
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
            attempts.append(str(address[0]))
            raise OSError(f"No test may connect to {address[0]}.")
        return connect(self, address)

    return guarded


def _guard_lookup(lookup: Callable[..., Any], attempts: list[str]) -> Callable[..., Any]:
    def guarded(host: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - the arguments of getaddrinfo
        if not _is_here(host):
            attempts.append(str(host))
            raise socket.gaierror(socket.EAI_NONAME, f"No test may look up {host}.")
        return lookup(host, *args, **options)

    return guarded


def _is_here(host: str | bytes | None) -> bool:
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
    if not name or name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


@pytest.fixture(scope="session")
def forking_command() -> Iterator[tuple[str, ...]]:
    """Return the arguments of Python that start a model process within a hundredth of a second."""
    if not hasattr(os, "fork") or not hasattr(socket, "send_fds"):
        yield WORKER_COMMAND
        return
    nowhere = "http://127.0.0.1:9"
    with TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = f"{folder}/forks"
        listener.bind(path)
        listener.listen()
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.fakes.forked_models", str(listener.fileno())],
            cwd=PROJECT_DIR,
            env={"PATH": os.environ["PATH"], "HOME": folder, "HTTP_PROXY": nowhere, "HTTPS_PROXY": nowhere},
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        )
        listener.close()
        with process:  # its standard input is closed, and it ends
            yield ("-I", "-S", str(Path(forking.__file__)), path)


@pytest.fixture
def forked_models(forking_command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Start model processes of this test as forks, and retry at once; `tests/models` has real starts and waits."""
    monkeypatch.setattr(WorkerProcess.__init__, "__kwdefaults__", {"command": forking_command})
    options_of = Settings.model_options
    at_once = lambda *given: replace(options_of(*given), retry_wait_seconds=0.0)  # noqa: E731 - it stands for a method
    monkeypatch.setattr(Settings, "model_options", at_once)


@pytest.fixture
def forking_program(forking_command: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments of Python for a `roamtui` that starts its model process as a fork."""
    lines = (
        "import sys",
        "from roamtui.cli import main",
        "from roamtui.models.worker_process import WorkerProcess",
        f"WorkerProcess.__init__.__kwdefaults__ = {{'command': {forking_command!r}}}",
        "sys.exit(main(sys.argv[1:]))",
    )
    return ("-c", "\n".join(lines))
