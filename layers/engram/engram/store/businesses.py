"""What a business sets for its profiles: one row, read strongly, so that a change counts from the next read on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from engram.domain.errors import ConditionFailed, EngramError, Throttled
from engram.domain.table import Absent, Item, Put, VersionIs
from engram.ports import Table
from engram.profile.config import ProfileConfig, parse_config, taxonomy_of
from engram.profile.rules import ProfileRules
from engram.profile.taxonomy import Taxonomy
from engram.profile.yaml_text import YamlMistake
from engram.store import keys

PROFILE_CONFIG = "profile_config"
_TRIES = 5


@dataclass(frozen=True, slots=True)
class StoredConfig:
    """A configuration to the letter, and how often it was set (0: never)."""

    text: str = ""
    version: int = 0


class BusinessConfigs:
    """Profile configurations on the Table port.

    Args:
        service_config: YAML that counts where a business says nothing. A mistake in it is found here, at start.
        language: of businesses that set none.

    Raises:
        EngramError: MISCONFIGURED, with line and key.
    """

    def __init__(self, *, table: Table, service_config: str = "", language: str = "en") -> None:
        try:
            parse_config(service_config)
        except YamlMistake as mistake:
            raise EngramError(f"the service-wide profile configuration, {mistake}", code="MISCONFIGURED") from None
        self._table = table
        self._service_config = service_config
        self._language = language

    def get(self, business_id: str) -> StoredConfig:
        """One get."""
        item = self._table.get(keys.business_config(business_id))
        if item is None:
            return StoredConfig()
        return StoredConfig(item.body.get(PROFILE_CONFIG, ""), item.version)

    def put(self, business_id: str, text: str) -> StoredConfig:
        """Keeps `text` to the letter.

        Raises:
            YamlMistake: it cannot be a configuration; names line and key. Nothing is changed.
        """
        parse_config(text)
        key = keys.business_config(business_id)
        for _ in range(_TRIES):
            present = self._table.get(key)
            version = present.version + 1 if present is not None else 1
            body = {**(present.body if present is not None else {}), PROFILE_CONFIG: text}
            condition = VersionIs(version - 1) if present is not None else Absent()
            try:
                self._table.transact([Put(Item(key, body, version=version), condition)])
            except ConditionFailed:
                continue
            return StoredConfig(text, version)
        raise Throttled("the configuration is contended")

    def rules(self, business_id: str) -> ProfileRules:
        """The business's taxonomy as it is now. One get."""
        stored = self.get(business_id)
        return ProfileRules(_taxonomy(self._service_config, stored.text, self._language), stored.version)


@lru_cache(maxsize=128)
def _taxonomy(service: str, business: str, language: str) -> Taxonomy:
    return taxonomy_of(_config(service), _config(business), language=language)


@lru_cache(maxsize=128)
def _config(text: str) -> ProfileConfig:
    return parse_config(text)
