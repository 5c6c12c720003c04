"""Brings users, profiles and events of a running Memobase server here, through both servers' APIs.

`make import-memobase MEMOBASE_URL=… MEMOBASE_API_KEY=…`, or `python -m infra.import_memobase --help`.
Rows keep their ids and times. Cut short, it is run again with the same state file and goes on with the next user.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

USERS_A_PAGE = 100
PROFILES_A_CALL, EVENTS_A_CALL = 50, 20
EVENTS_ASKED_FOR = (100_000, 1_000)
"""Memobase has no pages of events: all at once, or as many as a stricter server gives."""

_TRIES = 4


class Refusal(Exception):
    """A server said no. Holds its words about the request, no user text."""


class MemobaseApi:
    """One server that speaks Memobase's wire format."""

    def __init__(self, url: str, key: str, *, timeout: float = 60.0) -> None:
        self._base = url.rstrip("/") + "/api/v1"
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._timeout = timeout

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """The data of the answer; tried again while the server or the network fails.

        Raises:
            Refusal: the server refused, or did not answer after several tries.
        """
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data=content, headers=self._headers, method=method)
        for attempt in range(_TRIES):
            try:
                with urllib.request.urlopen(request, timeout=self._timeout) as response:
                    envelope = json.load(response)
                if envelope["errno"] in (0, None):
                    return envelope["data"]
                if envelope["errno"] < 500 or attempt == _TRIES - 1:
                    raise Refusal(f"errno {envelope['errno']}: {envelope['errmsg']}")
            except urllib.error.HTTPError as error:
                if (error.code < 500 and error.code != 429) or attempt == _TRIES - 1:
                    raise Refusal(f"HTTP {error.code}") from None
            except (OSError, ValueError, KeyError):
                if attempt == _TRIES - 1:
                    raise Refusal("no answer") from None
            time.sleep(0.5 * 2**attempt)
        raise Refusal("no answer")

    def users(self) -> Iterator[dict[str, Any]]:
        """All users, the longest unchanged first: pages stay in order while others write."""
        offset = 0
        while True:
            query = urlencode(
                {"limit": USERS_A_PAGE, "offset": offset, "order_by": "updated_at", "order_desc": "false"}
            )
            page = self.call("GET", f"/project/users?{query}")["users"]
            yield from page
            if len(page) < USERS_A_PAGE:
                return
            offset += len(page)

    def count(self) -> int:
        return int(self.call("GET", "/project/users?limit=1").get("count") or 0)

    def profiles(self, user_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.call("GET", f"/users/profile/{quote(user_id)}")["profiles"]
        return found

    def events(self, user_id: str) -> tuple[list[dict[str, Any]], bool]:
        """Events, and whether there may be more than the server gives."""
        for number in EVENTS_ASKED_FOR:
            try:
                found = self.call("GET", f"/users/event/{quote(user_id)}?topk={number}")["events"]
            except Refusal:
                if number == EVENTS_ASKED_FOR[-1]:
                    raise
                continue
            return found, len(found) >= number
        return [], False


@dataclass
class State:
    """What is done, kept in a file after each user."""

    path: Path
    done: set[str] = field(default_factory=set)
    written: Counter[str] = field(default_factory=Counter)
    refused: list[dict[str, str]] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path, *, source: str, target: str) -> State:
        """The state of an import between these two servers; a fresh one if there is none.

        Raises:
            SystemExit: the file belongs to another import.
        """
        if not path.exists():
            return cls(path)
        kept = json.loads(path.read_text())
        if (kept["source"], kept["target"]) != (source, target):
            raise SystemExit(f"{path} belongs to an import from {kept['source']} to {kept['target']}")
        return cls(path, set(kept["done"]), Counter(kept["written"]), kept["refused"])

    def write(self, *, source: str, target: str) -> None:
        kept = {
            "source": source,
            "target": target,
            "done": sorted(self.done),
            "written": dict(self.written),
            "refused": self.refused,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".new")
        fresh.write_text(json.dumps(kept, indent=1))
        os.replace(fresh, self.path)


class Importer:
    """Moves users one by one."""

    def __init__(self, source: MemobaseApi, target: MemobaseApi, state: State) -> None:
        self._source = source
        self._target = target
        self._state = state

    def user(self, user: Mapping[str, Any]) -> None:
        """Reads one user there and writes it here. What does not fit is noted and does not stop the rest."""
        user_id = str(user["id"])
        self._send(user_id, {"data": user.get("additional_fields")}, [("user", user_id)])
        rows = [_profile(one) for one in self._source.profiles(user_id)]
        events, more = self._source.events(user_id)
        if more:
            self._refuse("event", user_id, "the server gives no more events of this user than these")
        self._rows(user_id, "profiles", rows, PROFILES_A_CALL)
        self._rows(user_id, "events", [_event(one) for one in events], EVENTS_A_CALL)

    def _rows(self, user_id: str, name: str, rows: Sequence[dict[str, Any]], size: int) -> None:
        kind = name.removesuffix("s")
        for start in range(0, len(rows), size):
            part = rows[start : start + size]
            if self._send(user_id, {name: part}, [(kind, one["id"]) for one in part], alone=len(part) == 1):
                continue
            for one in part:  # one of them was refused as it stands: find out which
                self._send(user_id, {name: [one]}, [(kind, one["id"])])

    def _send(self, user_id: str, body: Any, rows: Sequence[tuple[str, str]], *, alone: bool = True) -> bool:
        """Whether the call was taken. A refused call of a single row is noted."""
        try:
            answer = self._target.call("POST", f"/users/import/{quote(user_id)}", body)
        except Refusal as refusal:
            if alone or len(rows) == 1:
                for kind, identifier in rows:
                    self._refuse(kind, identifier, str(refusal))
            return alone or len(rows) == 1
        refused = {(one["kind"], one["id"]) for one in answer["refused"]}
        for one in answer["refused"]:
            self._refuse(one["kind"], one["id"], one["reason"])
        for kind, identifier in rows:
            self._state.written[kind] += (kind, identifier) not in refused
        return True

    def _refuse(self, kind: str, identifier: str, reason: str) -> None:
        self._state.refused.append({"kind": kind, "id": identifier, "reason": reason})


def _profile(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        "content": row["content"],
        "attributes": row.get("attributes") or {},
        "created_at": _aware(row.get("created_at")),
        "updated_at": _aware(row.get("updated_at")),
    }


def _event(row: Mapping[str, Any]) -> dict[str, Any]:
    data = row.get("event_data") or {}
    return {
        "id": str(row["id"]),
        "event_data": {name: data.get(name) for name in ("event_tip", "event_tags", "profile_delta")},
        "created_at": _aware(row.get("created_at")),
        "updated_at": _aware(row.get("updated_at")),
    }


def _aware(moment: str | None) -> str | None:
    """A time with an offset; without one Memobase means UTC."""
    if not moment:
        return None
    has_offset = moment.endswith("Z") or "+" in moment[10:] or "-" in moment[10:]
    return moment if has_offset else f"{moment}Z"


def report(state: State) -> Table:
    """What was written, and what did not fit, by reason."""
    table = Table(title="Import from Memobase", title_justify="left")
    for column in ("", "written", "did not fit", "why"):
        table.add_column(column, justify="left" if column in ("", "why") else "right")
    for kind in ("user", "profile", "event"):
        reasons = Counter(one["reason"] for one in state.refused if one["kind"] == kind)
        why = "; ".join(f"{reason} ({count})" for reason, count in reasons.most_common(5))
        table.add_row(f"{kind}s", str(state.written[kind]), str(sum(reasons.values())), why)
    return table


def run(source_url: str, source_key: str, target_url: str, target_key: str, state_file: Path) -> State:
    """Imports every user that the state file does not name."""
    source, target = MemobaseApi(source_url, source_key), MemobaseApi(target_url, target_key)
    state = State.read(state_file, source=source_url, target=target_url)
    importer = Importer(source, target, state)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as progress:
        task = progress.add_task("users", total=source.count() or None, completed=len(state.done))
        found = True
        while found:  # again until nothing is new: a user who changed meanwhile moved to another page
            found = False
            for user in source.users():
                if user["id"] in state.done:
                    continue
                importer.user(user)
                state.done.add(user["id"])
                state.write(source=source_url, target=target_url)
                progress.advance(task)
                found = True
    return state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", default=os.environ.get("MEMOBASE_URL"), help="URL of the Memobase server")
    parser.add_argument("--source-key", default=os.environ.get("MEMOBASE_API_KEY"))
    parser.add_argument("--target", help="URL of the service here; by default the one whose run.json is in --dir")
    parser.add_argument("--target-key")
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("ENGRAM_DIR", ".engram")))
    parser.add_argument("--state", type=Path, help="by default import-memobase.json in --dir")
    chosen = parser.parse_args()
    if not chosen.source or not chosen.source_key:
        parser.error("--source and --source-key (or MEMOBASE_URL and MEMOBASE_API_KEY) are needed")
    if not chosen.target or not chosen.target_key:
        run_file = chosen.dir / "run.json"
        if not run_file.exists():
            parser.error(
                f"no service found in {chosen.dir}: start one with make serve, or give --target and --target-key"
            )
        facts = json.loads(run_file.read_text())
        chosen.target, chosen.target_key = facts["url"], facts["api_key"]
    state_file = chosen.state or chosen.dir / "import-memobase.json"
    try:
        state = run(chosen.source, chosen.source_key, chosen.target, chosen.target_key, state_file)
    except Refusal as refusal:
        raise SystemExit(f"stopped: {refusal}. Run again to go on with the next user.") from None
    Console().print(report(state))
    Console().print(f"Details: {state_file}")


if __name__ == "__main__":
    main()
