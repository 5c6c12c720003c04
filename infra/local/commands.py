"""The command line: what each command does, and the one line it prints when it cannot."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from infra.local.folder import Folder, Refused
from infra.local.presentation import Presentation

if TYPE_CHECKING:
    from engram.access.api_keys import ApiKeys
    from infra.local.credentials import Credentials
    from infra.local.service import LocalService, Stack

STACKS = ("embedded", "emulated")


def main(arguments: Sequence[str]) -> int:
    """Runs one command; the exit status."""
    options = _parser().parse_args(arguments)
    console = Console(file=sys.stdout, highlight=False)
    try:
        status: int = options.command(options, console)
    except Refused as error:
        Console(stderr=True, highlight=False).print(f"[bold red]engram:[/] {error}", soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="engram", description="Engram on one machine")
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("ENGRAM_DIR", ".engram")), help="its folder")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, play, text in (
        ("serve", False, "serve until Ctrl-C"),
        ("run", True, "play a conversation through the API, then serve until Ctrl-C"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--port", type=_port, default=os.environ.get("PORT", "8080"), help="0 takes a free one")
        command.add_argument("--stack", choices=STACKS, default="embedded")
        command.add_argument("--search", default="partition", help="partition, opensearch, or the URL of an OpenSearch")
        command.set_defaults(command=_serve, play=play)
    commands.add_parser("reset", help="forget everything in the folder").set_defaults(command=_reset)
    _add_keys(commands.add_parser("keys", help="make, list and revoke API keys"))
    return parser


def _add_keys(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(required=True, metavar="action")
    create = actions.add_parser("create", help="make a key; it is printed once")
    create.add_argument("--scopes", default="read,write,admin")
    create.add_argument("--expires", type=_expiry, help="in days (30d), or a moment (2030-01-31T12:00:00Z)")
    create.add_argument("--label", default="")
    create.set_defaults(command=_create_key)
    listing = actions.add_parser("list", help="what is known of a business's keys")
    listing.set_defaults(command=_list_keys)
    revoke = actions.add_parser("revoke", help="end a key")
    revoke.add_argument("--key-id", required=True)
    revoke.set_defaults(command=_revoke_key)
    for action in (create, listing, revoke):
        action.add_argument("--business", required=True, metavar="NAME")
        action.add_argument(
            "--cloudformation", metavar="STACK", default="", help="of a deployed stack, not of this machine"
        )


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return int(text)


def _expiry(text: str) -> datetime:
    if text.endswith("d") and text[:-1].isdigit():
        return datetime.now(UTC) + timedelta(days=int(text[:-1]))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise argparse.ArgumentTypeError("use days (30d) or a moment with its zone (2030-01-31T12:00:00Z)")
    return moment.astimezone(UTC)


def _serve(options: argparse.Namespace, console: Console) -> int:
    from infra.local.server import serve
    from infra.local.service import listen

    folder = Folder(options.dir)
    folder.prepare()
    listener = listen(options.port)
    presentation = Presentation(console)
    with presentation.starting():
        service, credentials = _start(folder, options)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    play = threading.Thread(
        target=presentation.play if options.play else presentation.welcome,
        kwargs={"url": url, "credentials": credentials, "service": service},
        daemon=True,
    )

    def ready() -> None:
        folder.write_run(_facts(url, listener.getsockname()[1], credentials, service.stack))
        play.start()

    try:
        service.start()
        serve(service.gateway, listener, ready=ready)
    finally:
        folder.run_file.unlink(missing_ok=True)
        service.stop()
        presentation.goodbye(folder.path)
    return 0


def _start(folder: Folder, options: argparse.Namespace) -> tuple[LocalService, Credentials]:
    """Loads everything. What functions print goes to the log file, as it goes to a log group on AWS."""
    log = folder.log_file.open("a", buffering=1)
    sys.stdout = log
    from infra.local.credentials import credentials
    from infra.local.service import LocalService

    stack = _stack(folder, options)
    service = LocalService(folder, stack, parameters=_parameters(options))
    from engram.bootstrap import services

    known = credentials(folder, stack.name, services().api_keys)
    service.warm(known.business_id)
    return service, known


def _stack(folder: Folder, options: argparse.Namespace) -> Stack:
    from infra.local.search import with_search

    return with_search(_stack_without_search(folder, options), options.search, folder)


def _stack_without_search(folder: Folder, options: argparse.Namespace) -> Stack:
    if options.stack == "embedded":
        from infra.local.embedded import EmbeddedStack

        return EmbeddedStack(folder)
    from infra.local.emulated import EmulatedStack

    return EmulatedStack(folder)


def _parameters(options: argparse.Namespace) -> dict[str, str]:
    """The template's parameters as this machine sets them."""
    return {"Stage": "local", "Search": "partition" if options.search == "partition" else "opensearch"}


def _facts(url: str, port: int, credentials: Credentials, stack: Stack) -> dict[str, object]:
    return {
        "url": url,
        "business_id": credentials.business_id,
        "api_key": credentials.api_key,
        "pid": os.getpid(),
        "stack": stack.name,
        "ports": {"http": port, **stack.ports},
    }


def _reset(options: argparse.Namespace, console: Console) -> int:
    folder = Folder(options.dir)
    forgotten = folder.forget()
    console.print(f"forgot {folder.path}" if forgotten else f"nothing to forget in {folder.path}", soft_wrap=True)
    return 0


def _create_key(options: argparse.Namespace, console: Console) -> int:
    api_keys = _api_keys(options)
    from engram.access.scopes import parse_scopes
    from engram.domain.errors import EngramError

    try:
        created = api_keys.create(
            options.business, scopes=parse_scopes(options.scopes), expires_at=options.expires, label=options.label
        )
    except EngramError as error:
        raise Refused(str(error)) from None
    console.print(created.text, soft_wrap=True)
    return 0


def _list_keys(options: argparse.Namespace, console: Console) -> int:
    now = datetime.now(UTC)
    for key in _api_keys(options).list(options.business):
        state = "holds" if key.holds_at(now) else "revoked" if key.revoked_at else "expired"
        expires = key.expires_at.isoformat() if key.expires_at else "never"
        columns = (
            key.key_id,
            state,
            ",".join(key.scopes),
            f"made {key.created_at:%Y-%m-%d}",
            f"expires {expires}",
            key.label,
        )
        console.print("  ".join(columns), soft_wrap=True, markup=False)
    return 0


def _revoke_key(options: argparse.Namespace, console: Console) -> int:
    from engram.domain.errors import EngramError

    try:
        _api_keys(options).revoke(options.business, options.key_id)
    except EngramError as error:
        raise Refused(str(error)) from None
    console.print("revoked; a gateway may go on accepting it for a minute")
    return 0


def _api_keys(options: argparse.Namespace) -> ApiKeys:
    """Keys of the deployed stack that is named, else of the installation in the folder, running or not."""
    from infra.local.key_access import keys_of_folder, keys_of_stack

    if options.cloudformation:
        return keys_of_stack(options.cloudformation)
    return keys_of_folder(Folder(options.dir))
