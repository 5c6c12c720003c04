"""A deployed stack, from outside: is it there, does it keep a message, does it find it again?

Run as `python -m infra.smoke --url URL` or `--cloudformation STACK`, with the key in ENGRAM_SMOKE_KEY.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import uuid

from infra.local.client import Client, Unexpected

_PATIENCE_SECONDS = 60.0


def check(client: Client) -> None:
    """Raises Unexpected at the first answer that is not the right one. Leaves no user behind."""
    user = f"smoke-{uuid.uuid4().hex[:12]}"
    _expect(client.call("GET", "/api/v1/healthcheck").status == 200, "health check")
    body = {
        "request_id": uuid.uuid4().hex,
        "user_id": user,
        "session_id": "smoke",
        "messages": [{"role": "user", "content": "My dog is called Biscuit."}],
    }
    try:
        client.ingest(body)
        question = {"query": "what is my dog called?", "user_id": user, "session_id": "smoke-2"}
        end = time.monotonic() + _PATIENCE_SECONDS
        while "Biscuit" not in str(client.call("POST", "/v1/memory/recall", question).body):
            _expect(time.monotonic() < end, "recall of what was ingested")
            time.sleep(1)
        _expect(client.context(user).status == 200, "context")
    finally:
        client.call("DELETE", f"/v1/users/{user}")


def _expect(right: bool, what: str) -> None:
    if not right:
        raise Unexpected(f"{what}: not the right answer")


def _url_of(stack: str) -> str:
    import boto3

    outputs = boto3.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]["Outputs"]
    return next(str(output["OutputValue"]) for output in outputs if output["OutputKey"] == "Url")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url")
    where.add_argument("--cloudformation", metavar="STACK")
    options = parser.parse_args()
    url = options.url or _url_of(options.cloudformation)
    try:
        check(Client(url, os.environ["ENGRAM_SMOKE_KEY"]))
    except Unexpected as error:
        sys.stderr.write(f"smoke test failed: {error}\n")
        return 1
    sys.stdout.write("smoke test passed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
