"""What can be set, as types, parsed once. `FIELDS` is the only place where a name of the environment is written.

The template passes the same names; a test compares the two lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_type_hints

from engram.domain.errors import InvalidInput

PREFIX = "ENGRAM_"

Stack = Literal["aws", "embedded"]
Search = Literal["partition", "opensearch"]
Cache = Literal["none", "memory", "valkey"]
EmbedderName = Literal["none", "local", "bedrock", "openai_compatible"]
DistillerName = Literal["rules", "bedrock", "openai_compatible"]
ChooserName = Literal["none", "bedrock", "openai_compatible"]
Language = Literal["en", "zh"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that differs between one installation and another.

    Attributes:
        stack: `embedded` keeps all in `data_dir` on this machine; `aws` uses the services below.
        data_dir: folder of the embedded stack: table, blobs, encoder cache.
        table, queue_url, bucket: names of the AWS resources.
        endpoint_url: of an emulator; empty for AWS itself.
        search_url, search_service, search_index: OpenSearch (`es` for a domain, `aoss` for Serverless).
        cache_url, cache_ttl_seconds, cache_iam_user: Valkey; with a user, IAM tokens instead of a password.
        pepper, pepper_secret: key of the HMAC over API keys, or the Secrets Manager id that holds it.
        language: of prompts and of the context block where a business sets none.
        profile_config: YAML of the service-wide taxonomy; a business overrides it.
        buffer_tokens, buffer_flush_interval: when a buffer is distilled: tokens, or idle seconds.
        conversation_gap_seconds: silence after which a session's next message begins a new conversation.
        requests_per_minute: quota of one business; 0 for none.
        chooser: whether a recall asks a model which of its candidates an ambiguous mention means: one call for each
            such mention, none for any other query.
        model_base_url, model_api_key, model_api_key_secret, distiller_model, chooser_model, embedder_model,
            embedder_dimension: of the model adapters.
        deadline_ms: for one leg of a read, the encoder and the chooser included.
    """

    stack: Stack = "embedded"
    stage: str = "local"
    data_dir: str = ".engram"
    region: str = "us-east-1"
    endpoint_url: str = ""
    table: str = "engram"
    queue_url: str = ""
    bucket: str = ""
    search: Search = "partition"
    search_url: str = ""
    search_service: str = "es"
    search_index: str = "engram"
    cache: Cache = "memory"
    cache_url: str = ""
    cache_iam_user: str = ""
    cache_ttl_seconds: int = 1_200
    embedder: EmbedderName = "local"
    embedder_model: str = ""
    embedder_dimension: int = 1_024
    distiller: DistillerName = "rules"
    distiller_model: str = ""
    chooser: ChooserName = "none"
    chooser_model: str = ""
    model_base_url: str = ""
    model_api_key: str = field(default="", repr=False)
    model_api_key_secret: str = ""
    pepper: str = field(default="", repr=False)
    pepper_secret: str = ""
    language: Language = "en"
    profile_config: str = ""
    timezone: str = "UTC"
    buffer_tokens: int = 1_024
    buffer_flush_interval: int = 300
    conversation_gap_seconds: int = 1_800
    requests_per_minute: int = 0
    deadline_ms: int = 2_000
    sweep_after_seconds: int = 60

    @classmethod
    def parse(cls, environment: Mapping[str, str]) -> Settings:
        """Settings from `ENGRAM_*` names; absent or empty ones keep their default.

        Raises:
            InvalidInput: a value is not of its field's type; names the variable, not the value.
        """
        hints = get_type_hints(cls)
        given: dict[str, Any] = {}
        for name, variable in FIELDS.items():
            text = environment.get(variable, "")
            if text != "":
                given[name] = _value(variable, text, hints[name])
        return cls(**given)


FIELDS: Mapping[str, str] = {one.name: PREFIX + one.name.upper() for one in fields(Settings)}
"""Field of `Settings` to its name in the environment."""


def _value(variable: str, text: str, hint: Any) -> Any:
    if hint is int:
        if not text.lstrip("-").isdigit():
            raise InvalidInput(f"{variable} must be a whole number")
        return int(text)
    choices = get_args(hint)
    if choices and text not in choices:
        raise InvalidInput(f"{variable} must be one of {', '.join(choices)}")
    return text
