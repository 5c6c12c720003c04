"""Logs: ids, counts and places, never what a user wrote."""

import io
import json
import logging
import sys

import pytest

from engram import observability


@pytest.fixture
def lines(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(sys, "stdout", written)
    monkeypatch.setattr(observability.LOGGER, "handlers", [])
    observability.configure()
    return lambda: [json.loads(line) for line in written.getvalue().splitlines()]


def test_a_field_that_could_hold_user_text_is_refused_where_it_is_written():
    with pytest.raises(ValueError, match="query"):
        observability.log("recalled", query="my secret")


def test_an_unexpected_failure_is_logged_by_type_and_place_without_its_message(lines):
    try:
        raise KeyError("my secret")
    except KeyError as error:
        observability.failure(error, operation_id="op-1")
    (line,) = lines()
    assert line["error_type"] == "KeyError"
    assert "test_observability.py" in line["where"]
    assert "my secret" not in json.dumps(line)


def test_records_of_one_request_carry_its_correlation_id(lines):
    observability.annotate({"requestContext": {"requestId": "r-1"}})
    observability.log("done", level=logging.INFO, count=3)
    observability.annotate({})
    (line,) = lines()
    assert (line["correlation_id"], line["count"]) == ("r-1", 3)
