"""A desk with everything that the manual names: files, saved things, a site, and the servers of models."""

import shutil
from contextlib import ExitStack
from pathlib import Path

from roamtui.bootstrap import open_library
from roamtui.conversation.log import open_store
from roamtui.conversation.notes import NoteStore, make_note
from roamtui.quotes.located_notes import make_span_citation
from tests.cli.conftest import RunCommand, write_settings
from tests.conversation.conversations import find
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.fakes.model_servers import FakeEmbeddingServer, FakeOllamaServer, FakeOpenAIServer, FakeReply
from tests.fakes.site import FakeSite
from tests.real_documents import PROJECT_DIR

QUESTION = "How long is the grace period?"
_ANSWER = 'It says "Cargo bikes have 2 hours and petrol plant has none." [9b2edcbe]'
_CONTRACT = "Either party may end this contract with a notice period of 60 days. The buyer pays."
_REPLIES = [FakeReply(text=_ANSWER)] * 40


class Desk:
    """A folder to work in. `stands_for` says what is there in place of a word of the manual."""

    def __init__(self, run: RunCommand, servers: ExitStack) -> None:
        """Lay everything out in the working folder, with servers that run as long as `servers` is open."""
        self._run = run
        self._write_files()
        library = open_library(("handbook.md",))
        note = make_note(library, make_span_citation(find(library, "Late fees"), None, library), "Pay in time.")
        NoteStore(open_store().notes_folder, library.source).save(note)
        run("table", "handbook.md", "--questions", "faq.toml", "-o", "docs/faq.md")
        run("table", "contract.md", "-q", "How long is the notice period?", "--folder", "table")
        openai = servers.enter_context(FakeOpenAIServer(*_REPLIES))
        ollama = servers.enter_context(FakeOllamaServer(*_REPLIES))
        embedder = servers.enter_context(FakeEmbeddingServer())
        self._servers = (openai, ollama, embedder)
        write_settings(f'[retrieval]\nembedder_api_base = "{embedder.origin}"\n')
        site = servers.enter_context(FakeSite({"/llms.txt": "# Docs\n\n- [Fees](/fees.md)\n", "/fees.md": _CONTRACT}))
        self.variables = {
            "OPENAI_BASE_URL": openai.url,
            "OLLAMA_API_BASE": ollama.url,
            "OPENAI_API_KEY": "sk-0123456789abcdef",
        }
        """Where the models of the manual are."""
        self.stands_for = {
            "SOURCE": "handbook.md",
            "QUESTION": QUESTION,
            "QUERY": "late fee",
            "MODEL": "openai/gpt-4.1-mini",
            "NAME": "ollama/nomic-embed-text",
            "NEW": "edition.md",
            "YOUR-DOCUMENT.md": "handbook.md",
            "FILE": "saved.md",
            "DATABASE": "shelf.lance",
            "FOLDER": "table",
            "/home/me/handbook.md": "handbook.md",
            "/home/me/docs": "docs",
            "https://docs.example.com": site.origin,
            "http://127.0.0.1:8000/v1": openai.url,
        }
        self._add_ids()

    def ask(self) -> str:
        """Ask something, and return the id of the new conversation."""
        return str(self._run("ask", "handbook.md", QUESTION, "--json").json["conversation"])

    def count_requests(self) -> int:
        """Return how often a model was asked, or an embedder."""
        return sum(len(server.requests) for server in self._servers)

    def _write_files(self) -> None:
        examples = PROJECT_DIR / "examples"
        for folder in ("examples", "docs", "notes"):
            shutil.copytree(examples, folder)
        for name in ("docs/guide.md", "guide.md", "api.md"):
            Path(name).write_text("# Guide\n\n## Install\n\nRun the installer.\n", "utf-8")
        Path("contracts").mkdir()
        for name in ("contract.md", "contracts/a.md", "contracts/b.md"):
            Path(name).write_text(f"# Contract\n\n## Notice\n\n{_CONTRACT}\n", "utf-8")
        Path("answer.md").write_text(f'It says "{_CONTRACT}"\n', "utf-8")
        for name in ("contract.pdf", "report.pdf"):
            Path(name).write_bytes(make_pdf([lay_out("# Contract", _CONTRACT)]))
        Path("talk.srt").write_text("1\n00:00:01,000 --> 00:00:04,000\nWelcome to the talk.\n", "utf-8")
        shutil.copy(PROJECT_DIR / "tests/convert/files/budget.xlsx", "figures.xlsx")
        shutil.copy("examples/table.toml", "faq.toml")
        shutil.copy("examples/questions.jsonl", "questions.jsonl")
        text = Path("examples/handbook.md").read_text("utf-8")
        register = f"{_CONTRACT} " * 500
        inventory = "".join(f"### Shelf {number}\n\nDrills.\n\n" for number in range(300))
        text += f"\n## Register\n\n{register}\n\n## Inventory\n\n{inventory}"
        for name in ("handbook.md", "edition.md"):
            Path(name).write_text(text, "utf-8")

    def _add_ids(self) -> None:
        """Add the ids of a section, of a page of one, and of a group of subsections."""
        sections = self._run("outline", "handbook.md", "--json").json["sections"]
        ids = {section["title"]: section["id"] for section in sections}
        self.stands_for |= {
            "ID...": ids["Register"],
            "9fa2bd4a:2": f"{ids['Register']}:2",
            "9fa2bd4a:c2": f"{ids['Inventory']}:c2",
        }
