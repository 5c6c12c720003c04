"""The events that AWS would send: API Gateway payload 2.0, its authorizer's request, SQS FIFO records, a schedule."""

from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol
from urllib.parse import parse_qsl

ACCOUNT = "000000000000"


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What arrived over HTTP. `path` is percent-decoded, `query` is not; header names are lower case."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    client: str


def gather_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Names in lower case; values of a repeated name joined by commas, as the gateway does."""
    headers: dict[str, str] = {}
    for raw_name, raw_value in pairs:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    return headers


def http_event(
    request: HttpRequest, *, route_key: str, parameters: dict[str, str], authorizer: dict[str, Any] | None
) -> dict[str, Any]:
    """An HTTP API event of payload format 2.0."""
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": route_key,
        "rawPath": request.path,
        "rawQueryString": request.query,
        "headers": request.headers,
        "requestContext": _request_context(request, route_key),
        "isBase64Encoded": False,
    }
    if authorizer is not None:
        event["requestContext"]["authorizer"] = {"lambda": authorizer}
    if cookies := request.headers.get("cookie"):
        event["cookies"] = [cookie.strip() for cookie in cookies.split(";")]
    if request.query:
        event["queryStringParameters"] = _query_parameters(request.query)
    if parameters:
        event["pathParameters"] = parameters
    if request.body:
        event |= _body(request.body)
    return event


def authorizer_event(request: HttpRequest, *, route_key: str, identity: Sequence[str], arn: str) -> dict[str, Any]:
    """A Lambda authorizer request of payload format 2.0. It has no body: an authorizer never sees one."""
    return {
        "version": "2.0",
        "type": "REQUEST",
        "routeArn": arn,
        "identitySource": list(identity),
        "routeKey": route_key,
        "rawPath": request.path,
        "rawQueryString": request.query,
        "headers": request.headers,
        "requestContext": _request_context(request, route_key),
    }


def _request_context(request: HttpRequest, route_key: str) -> dict[str, Any]:
    now = time.time()
    host = request.headers.get("host", "localhost")
    return {
        "accountId": ACCOUNT,
        "apiId": "local",
        "domainName": host,
        "domainPrefix": host.partition(".")[0],
        "http": {
            "method": request.method,
            "path": request.path,
            "protocol": "HTTP/1.1",
            "sourceIp": request.client,
            "userAgent": request.headers.get("user-agent", ""),
        },
        "requestId": uuid.uuid4().hex,
        "routeKey": route_key,
        "stage": "$default",
        "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
        "timeEpoch": int(now * 1000),
    }


def _query_parameters(query: str) -> dict[str, str]:
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    return parameters


def _body(body: bytes) -> dict[str, Any]:
    try:
        return {"body": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode("ascii"), "isBase64Encoded": True}


class Received(Protocol):
    """A message as a queue hands it out. `receipt` names it for `done` and `failed`."""

    @property
    def group(self) -> str: ...
    @property
    def body(self) -> str: ...
    @property
    def receipt(self) -> str: ...
    @property
    def receive_count(self) -> int: ...
    @property
    def message_id(self) -> str: ...
    @property
    def sent_at(self) -> int:
        """Unix milliseconds."""

    @property
    def sequence(self) -> int: ...


def queue_event(messages: Sequence[Received], *, queue: str, region: str) -> dict[str, Any]:
    """An event source mapping's batch of FIFO records."""
    return {"Records": [_record(message, queue, region) for message in messages]}


def _record(message: Received, queue: str, region: str) -> dict[str, Any]:
    return {
        "messageId": message.message_id,
        "receiptHandle": message.receipt,
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": str(message.receive_count),
            "SentTimestamp": str(message.sent_at),
            "SequenceNumber": str(message.sequence),
            "MessageGroupId": message.group,
            "MessageDeduplicationId": message.message_id,
            "SenderId": ACCOUNT,
            "ApproximateFirstReceiveTimestamp": str(int(time.time() * 1000)),
        },
        "messageAttributes": {},
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{region}:{ACCOUNT}:{queue}",
        "awsRegion": region,
    }


def schedule_event(region: str) -> dict[str, Any]:
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": ACCOUNT,
        "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": region,
        "resources": [],
        "detail": {},
    }
