"""What a person sees: the start, the played conversation, where to go on."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from infra.local.client import Client
from infra.local.conversation import Step, play

if TYPE_CHECKING:
    from infra.local.credentials import Credentials
    from infra.local.service import LocalService

_SHOWN_CHARACTERS = 420


class Presentation:
    """Writes to one console. Never raises into the service: a closed terminal must not stop it."""

    def __init__(self, console: Console) -> None:
        self._console = console

    @contextlib.contextmanager
    def starting(self) -> Iterator[None]:
        with self._console.status("starting the service…"):
            yield

    def play(self, *, url: str, credentials: Credentials, service: LocalService) -> None:
        """The conversation, then how to go on."""
        console = self._console
        console.print()
        console.print(Text("Engram", style="bold"), Text("one conversation, through the HTTP API", style="dim"))
        console.print()
        try:
            for number, step in enumerate(play(Client(url, credentials.api_key)), 1):
                console.print(_shown(number, step))
        except Exception as error:  # noqa: BLE001  the played conversation must not take the service with it
            console.print(f"[bold red]the conversation stopped[/] ({type(error).__name__}); details are in the log")
        self.welcome(url=url, credentials=credentials, service=service)

    def welcome(self, *, url: str, credentials: Credentials, service: LocalService) -> None:
        """Where the service is and three calls to try."""
        facts = Table.grid(padding=(0, 2))
        facts.add_row("[dim]url", f"[bold cyan]{url}")
        facts.add_row("[dim]business", credentials.business_id)
        facts.add_row("[dim]api key", credentials.api_key)
        facts.add_row("[dim]stack", service.stack.name)
        for name, place in service.stack.parts.items():
            facts.add_row(f"[dim]{name}", place)
        facts.add_row("[dim]folder", str(service.folder.path))
        facts.add_row("[dim]log", str(service.folder.log_file))
        self._console.print(Panel(facts, title="serving", title_align="left", border_style="green", expand=False))
        self._console.print(_to_try(url, credentials.api_key), soft_wrap=True, markup=False)
        self._console.print("\n[dim]Ctrl-C stops the service; what it was told is kept.[/]")

    def goodbye(self, folder: Path) -> None:
        self._console.print(f"\n[dim]stopped; everything is kept in {folder}[/]", soft_wrap=True)


def _shown(number: int, step: Step) -> Panel:
    title = {"recall": "recall", "ingestion": "remember", "context": "context"}[step.kind]
    said = Text(step.said, style="bold")
    body = {"recall": _recall, "ingestion": _ingestion, "context": _context}[step.kind](step.answer)
    return Panel(
        Group(said, Text(), *body),
        title=f"{number}  {title}",
        subtitle=f"{step.ms:.1f} ms",
        title_align="left",
        subtitle_align="right",
        border_style={"recall": "cyan", "ingestion": "blue", "context": "magenta"}[step.kind],
    )


def _recall(bundle: Mapping[str, Any]) -> list[Any]:
    if "support_status" not in bundle:
        return [_problem(bundle)]
    facts = Table.grid(padding=(0, 2))
    status = bundle["support_status"]
    facts.add_row("[dim]support", f"[bold {'green' if status == 'SUPPORTED' else 'yellow'}]{status}")
    resolution = bundle["resolution"]
    facts.add_row("[dim]understood", "  ".join(_understood(resolution)) or "–")
    for reference in bundle["conversation_refs"][:2]:
        facts.add_row("[dim]conversation", f"{reference['start']}  {reference['session_id']}")
    shown: list[Any] = [facts]
    for evidence in bundle["evidence"][:2]:
        shown += [Text(), Text(f"{evidence['role']}: ", style="green", end=""), Text(_cut(evidence["text"]))]
    return shown


def _understood(resolution: Mapping[str, Any]) -> list[str]:
    linked = [
        f"{mention['text']} → [bold]{mention['name']}[/]"
        for mention in (*resolution["entities"], *resolution["topics"])
        if mention.get("name")
    ]
    intent = resolution["temporal"]["intent"]
    return linked + ([f"[bold]{intent}[/]"] if intent != "NONE" else [])


def _ingestion(operation: Mapping[str, Any]) -> list[Any]:
    if "operation_id" not in operation:
        return [_problem(operation)]
    facts = Table.grid(padding=(0, 2))
    facts.add_row("[dim]operation", operation["status"])
    result = operation.get("result") or {}
    kept = "  ".join(f"{name} {value}" for name, value in result.items() if isinstance(value, int) and value)
    if kept:
        facts.add_row("[dim]kept", kept)
    return [facts]


def _context(answer: Mapping[str, Any]) -> list[Any]:
    data = answer.get("data") or {}
    if "context" not in data:
        return [_problem(answer)]
    tokens = data["tokens"]
    return [Text(data["context"]), Text(), Text(f"{tokens['total']} tokens", style="dim")]


def _problem(answer: Mapping[str, Any]) -> Text:
    return Text(str(answer.get("detail") or answer.get("message") or answer.get("errmsg") or answer), style="red")


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}… ({len(text)} characters)"


def _to_try(url: str, api_key: str) -> str:
    said = {"role": "user", "content": "My dog is called Biscuit."}
    ingestion = {"request_id": "r1", "user_id": "ann", "session_id": "s1", "messages": [said]}
    question = {"query": "what is my dog called?", "user_id": "ann", "session_id": "s2"}
    key = f"-H 'Authorization: Bearer {api_key}'"
    return "\n".join(
        (
            f"curl -s {url}/v1/memory/ingestions {key} -d '{json.dumps(ingestion)}'",
            f"curl -s {url}/v1/memory/recall {key} -d '{json.dumps(question)}'",
            f"curl -s {url}/api/v1/users/context/ann {key}",
        )
    )
