"""What must not be readable afterwards is in no file: secrets never, a deleted conversation no longer."""

import json
import os
import signal
from pathlib import Path

import pytest

from roamtui.cli import main
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.drafts import DraftFile
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notes import NoteStore, make_note
from roamtui.sanitiser import MASK
from tests.anomalies.mortal_programs import MortalPrograms
from tests.cli.conftest import GARDEN
from tests.conversation.conversations import Recorder, find, make_library
from tests.fakes.loopback import LoopbackServer, QuietHandler
from tests.fakes.model_servers import FakeOpenAIServer, FakeReply, openai_error

SECRET = "sk-a-secret-0123456789abcdef"  # noqa: S105 - no real one


def _find(folder: Path, words: str) -> list[str]:
    """Return the files below a folder whose bytes hold some words."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if words.encode() in path.read_bytes()]


def test_a_deleted_conversation_is_in_no_file(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "data" / "conversations")
    for name in "abc":
        log = store.start(name, Recorder(name).ask(f"words-of-{name} " * 1_000).events)
        log.save()
        log.close()
        draft = DraftFile(store, "handbook.md", name)
        draft.write([f"words-of-{name} not sent"])
        draft.close()
    for name in "abc":
        assert len(_find(tmp_path, f"words-of-{name} ")) == 2
        store.delete(name)
        assert _find(tmp_path, f"words-of-{name} ") == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no processes of this kind")
def test_what_a_killed_program_has_half_written_is_deleted_too(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "data" / "conversations")
    log = store.start("a", Recorder("a").ask("Why?").events)
    log.save()
    log.close()
    library = make_library()
    alpha = Citation(section_id=find(library, "Alpha"), quote=None, state=QuoteState.NO_QUOTE)
    note = make_note(library, alpha, "secret-note")
    notes = NoteStore(store.notes_folder, note.source_key)
    for is_note in (True, False):
        if not (child := os.fork()):
            os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
            if is_note:
                notes.save(note)
            DraftFile(store, "handbook.md", "a").write(["secret-draft"])
        os.waitpid(child, 0)
    assert len(_find(tmp_path, "secret")) == 2
    notes.save(note)
    notes.delete([note.id])
    store.delete("a")
    assert _find(tmp_path, "secret") == []


@pytest.mark.slow
def test_all_that_the_program_writes_is_its_owners_alone(programs: MortalPrograms, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "docs"
    home.mkdir()
    folder.mkdir()
    (folder / "garden.md").write_text(GARDEN, "utf-8")
    (folder / "page.html").write_text("<h1>Shed</h1><p>The shed is red.</p>", "utf-8")
    commands = (
        ("ask", str(folder), "What does a plot cost?"),
        ("search", str(folder), "shed"),
        ("outline", str(folder / "page.html")),
        ("conversations",),
    )
    for command in commands:
        run = programs.run(*command, home=home, umask=0)
        assert run.code == 0, run.errors
    loose = {
        str(path.relative_to(home)): oct(path.stat().st_mode) for path in home.rglob("*") if path.stat().st_mode & 0o077
    }
    assert loose == {}
    assert len([path for path in home.rglob("*") if path.is_file()]) >= 2


@pytest.mark.usefixtures("forked_models")
@pytest.mark.parametrize(
    "reply",
    [
        FakeReply(status=401, error=openai_error(f"Incorrect API key provided: {SECRET}.")),
        FakeReply(text=f'Your key is {SECRET}, and "{SECRET}" [a8a96034].', chunk_size=10),
        FakeReply(calls=(("search_sections", json.dumps({"query": f"find {SECRET}"})), (SECRET, "{}"))),
    ],
    ids=["error", "answer", "calls"],
)
def test_a_key_is_in_no_file_although_the_provider_repeats_it(
    tmp_path: Path,
    home_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    reply: FakeReply,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    document = tmp_path / "garden.md"
    beds = "".join(f"## Bed {number}\n\n{'Beans grow in this bed. ' * 40}\n\n" for number in range(40))
    document.write_text(GARDEN + beds, "utf-8")  # so long that a model has tools
    with FakeOpenAIServer() as server:
        server.reset(reply, FakeReply(text="Done."))
        model = ("--model", "openai/some-model", "--api-base", server.url)
        main(["ask", str(document), "Which key?", *model, "--events"])
    shown = "".join(capfd.readouterr())
    assert server.bodies
    assert SECRET not in shown
    assert MASK in shown or reply.status == 401
    assert _find(home_dir, SECRET) == []
    assert len(_find(home_dir, "Which key?")) == 1


class _RefusingProxy(QuietHandler):
    """Refuses each login, as a company's proxy does when a password has expired."""

    def do_CONNECT(self) -> None:
        self.reply(407)


@pytest.mark.usefixtures("forked_models")
def test_the_password_of_a_proxy_is_in_no_file_although_an_error_names_its_url(
    tmp_path: Path, home_dir: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "garden.md"
    document.write_text(GARDEN, "utf-8")
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with LoopbackServer(_RefusingProxy) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://jane:Hunter2@{proxy.address}")
        assert main(["ask", str(document), "Which key?", "--model", "openai/some-model", "--json"]) == 1
    shown = "".join(capfd.readouterr())
    conversation = json.loads(shown[shown.index("{") : shown.rindex("}") + 1])["conversation"]
    assert "407" in shown
    for suffix in ("md", "json"):
        main(["conversations", "export", conversation, "-o", str(tmp_path / f"export.{suffix}")])
        assert "407" in (tmp_path / f"export.{suffix}").read_text("utf-8")
    assert "Hunter2" not in shown
    assert "jane" not in shown
    assert _find(tmp_path, "Hunter2") == _find(home_dir, "Hunter2") == []
