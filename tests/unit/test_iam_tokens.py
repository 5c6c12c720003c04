"""Tokens that open ElastiCache: the same signature as botocore's, made anew before they expire."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.adapters.elasticache_token import IamTokens, cache_name_of
from engram.adapters.sigv4 import AwsCredentials, presigned_query
from tests.builders import MovableClock

AT = datetime(2026, 7, 1, 9, 30, 15, tzinfo=UTC)


def botocores_query(
    host: str, parameters: dict[str, str], credentials: AwsCredentials, monkeypatch_at: datetime
) -> str:
    """What botocore signs for the same request at the same moment."""
    import botocore.auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.auth, "get_current_datetime", lambda: monkeypatch_at.replace(tzinfo=None))
        request = AWSRequest("GET", f"https://{host}/", params=parameters)
        keys = Credentials(credentials.access_key, credentials.secret_key, credentials.session_token or None)
        botocore.auth.SigV4QueryAuth(keys, "elasticache", "eu-west-1", expires=900).add_auth(request)
    return urlsplit(request.url).query


@settings(deadline=None)
@given(
    user=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
    token=st.just("") | st.text("abc/+=", min_size=1, max_size=12),
)
def test_our_signature_is_botocores(user: str, token: str) -> None:
    credentials = AwsCredentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token)
    parameters = {"Action": "connect", "User": user, "ResourceType": "ServerlessCache"}
    ours = presigned_query(
        "my-cache", parameters, service="elasticache", region="eu-west-1", credentials=credentials, now=AT,
        expires_seconds=900,
    )  # fmt: skip
    assert parse_qs(ours) == parse_qs(botocores_query("my-cache", parameters, credentials, AT))


def test_a_token_is_kept_until_two_minutes_before_it_expires() -> None:
    clock = MovableClock()
    tokens = IamTokens("app", "my-cache", region="eu-west-1", credentials=lambda: AwsCredentials("A", "S"), clock=clock)
    user, first = tokens.get_credentials()
    clock.go_on(12 * 60 + 59)
    assert (user, tokens.get_credentials()) == ("app", ("app", first))
    clock.go_on(1)
    assert tokens.get_credentials()[1] != first


def test_a_refused_token_is_not_used_again() -> None:
    keys = iter([AwsCredentials("OLD", "S"), AwsCredentials("NEW", "S")])
    tokens = IamTokens("app", "my-cache", region="eu-west-1", credentials=lambda: next(keys), clock=MovableClock())
    assert "OLD" in tokens.get_credentials()[1]
    tokens.forget()
    assert "NEW" in tokens.get_credentials()[1]


def test_only_a_serverless_cache_is_signed_as_one() -> None:
    for serverless in (True, False):
        tokens = IamTokens(
            "app", "c", region="eu-west-1", credentials=lambda: AwsCredentials("A", "S"), serverless=serverless
        )
        token = tokens.get_credentials()[1]
        assert token.startswith("c/?")
        assert ("ResourceType=ServerlessCache" in token) is serverless


def test_secrets_do_not_show_when_credentials_are_printed() -> None:
    assert "hidden" not in repr(AwsCredentials("A", "hidden", "hidden"))


@pytest.mark.parametrize(
    ("host", "name", "serverless"),
    [
        ("engram-prod-ab12cd.serverless.use1.cache.amazonaws.com", "engram-prod", True),
        ("engram-ab12cd.serverless.euw1.cache.amazonaws.com", "engram", True),
        ("master.engram.ab12cd.use1.cache.amazonaws.com", "engram", False),
        ("clustercfg.engram.ab12cd.use1.cache.amazonaws.com", "engram", False),
        ("localhost", "localhost", False),
    ],
)
def test_the_name_of_a_cache_is_read_from_its_endpoint(host: str, name: str, serverless: bool) -> None:
    assert cache_name_of(host) == (name, serverless)


def test_tokens_for_an_endpoint_are_signed_for_its_cache() -> None:
    url = "rediss://engram-prod-ab12cd.serverless.use1.cache.amazonaws.com:6379"
    tokens = IamTokens.for_url(url, user="app", region="us-east-1", credentials=lambda: AwsCredentials("A", "S"))
    assert tokens.get_credentials()[1].startswith("engram-prod/?")
