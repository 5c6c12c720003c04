"""From settings to ports: which adapter stands behind each. Nothing else in the library chooses one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from engram.bootstrap.parts import Parts, part

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.access.api_keys import ApiKeys
    from engram.access.quota import Quota
    from engram.adapters.aws import LazyClient
    from engram.adapters.local_queue import LocalQueue
    from engram.adapters.partition_index import PartitionIndex
    from engram.adapters.sigv4 import AwsCredentials
    from engram.api.cursors import Cursors
    from engram.ports import BlobStore, Distiller, Embedder, ProfileCache, SearchIndex, Table, WorkQueue
    from engram.store.lagging import LaggingSearch

LAYER_ENCODER = Path("/opt/encoder")
"""Where the dependency layer brings the local encoder's prepared form."""


class Adapters(Parts):
    """The ports, the secrets and who may ask."""

    @property
    def embedded(self) -> bool:
        """Whether everything lives on this machine."""
        return self.settings.stack == "embedded"

    @property
    def _folder(self) -> Path:
        folder = Path(self.settings.data_dir)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _client(self, service: str) -> LazyClient:
        from engram.adapters.aws import LazyClient

        return LazyClient(service, region=self.settings.region, endpoint_url=self.settings.endpoint_url)

    @part
    def _slow_model(self) -> LazyClient:
        """A model takes its time to write; the queue, not this client, tries again."""
        from engram.adapters.aws import LazyClient

        settings = self.settings
        return LazyClient(
            "bedrock-runtime",
            region=settings.region,
            endpoint_url=settings.endpoint_url,
            read_timeout=90.0,
            attempts=2,
        )

    @part
    def table(self) -> Table:
        if self.embedded:
            from engram.adapters.sqlite import SqliteTable

            return SqliteTable(self._folder / "engram.sqlite", clock=self.clock)
        from engram.adapters.dynamodb import DynamoTable

        return DynamoTable(self.settings.table, client=self._client("dynamodb"), clock=self.clock)

    @part
    def blobs(self) -> BlobStore:
        if self.embedded:
            from engram.adapters.folder import FolderBlobs

            return FolderBlobs(self._folder / "blobs")
        from engram.adapters.s3 import S3Blobs

        return S3Blobs(self.settings.bucket, client=self._client("s3"))

    @part
    def local_queue(self) -> LocalQueue:
        """The embedded stack's queue, whose consumer runs in this process."""
        from engram.adapters.local_queue import LocalQueue

        return LocalQueue()

    @part
    def queue(self) -> WorkQueue:
        if self.embedded:
            return self.local_queue
        from engram.adapters.sqs import SqsQueue

        return SqsQueue(self.settings.queue_url, client=self._client("sqs"))

    @part
    def cache(self) -> ProfileCache | None:
        settings = self.settings
        if settings.cache == "valkey":
            return self._valkey()
        if settings.cache == "memory":
            from engram.adapters.memory_cache import MemoryCache

            return MemoryCache(ttl_seconds=settings.cache_ttl_seconds)
        return None

    def _valkey(self) -> ProfileCache:
        from engram.adapters.valkey import ValkeyCache

        settings = self.settings
        tokens = None
        if settings.cache_iam_user:
            from engram.adapters.elasticache_token import IamTokens

            tokens = IamTokens.for_url(
                settings.cache_url,
                user=settings.cache_iam_user,
                region=settings.region,
                credentials=_role_credentials,
            )
        return ValkeyCache(settings.cache_url, ttl_seconds=settings.cache_ttl_seconds, tokens=tokens)

    @part
    def rows_index(self) -> PartitionIndex:
        """The search rows in the user's own partition: always written, always there to fall back to."""
        from engram.adapters.partition_index import PartitionIndex
        from engram.store.documents import SearchRows

        return PartitionIndex(rows=SearchRows(table=self.table, clock=self.clock))

    @part
    def remote_index(self) -> SearchIndex | None:
        if self.settings.search != "opensearch":
            return None
        from engram.adapters.opensearch import OpenSearchIndex

        return OpenSearchIndex.from_settings(
            self.settings, encoder=self.embedder, behind=lambda scope: self.lagging.holds(scope)
        )

    @part
    def lagging(self) -> LaggingSearch:
        """Users whose documents the remote index did not take."""
        from engram.store.lagging import LaggingSearch

        return LaggingSearch(table=self.table, clock=self.clock)

    @part
    def embedder(self) -> Embedder | None:
        settings = self.settings
        if settings.embedder == "local":
            from engram.adapters.local_encoder import LocalEncoder

            return LocalEncoder(cache=self._folder / "encoder" if self.embedded else LAYER_ENCODER)
        if settings.embedder == "bedrock":
            from engram.adapters.bedrock import BedrockEmbedder

            return BedrockEmbedder(
                client=self._client("bedrock-runtime"),
                model=settings.embedder_model,
                dimension=settings.embedder_dimension,
            )
        if settings.embedder == "openai_compatible":
            from engram.adapters.openai_compatible import OpenAICompatibleEmbedder

            return OpenAICompatibleEmbedder(
                base_url=settings.model_base_url,
                api_key=self._model_key,
                model=settings.embedder_model,
                dimension=settings.embedder_dimension,
            )
        return None

    @part
    def distiller(self) -> Distiller:
        settings = self.settings
        if settings.distiller == "bedrock":
            from engram.adapters.bedrock import BedrockDistiller

            return BedrockDistiller(client=self._slow_model, model=settings.distiller_model)
        if settings.distiller == "openai_compatible":
            from engram.adapters.openai_compatible import OpenAICompatibleDistiller

            return OpenAICompatibleDistiller(
                base_url=settings.model_base_url, api_key=self._model_key, model=settings.distiller_model
            )
        from engram.adapters.rules import RulesDistiller

        return RulesDistiller()

    @part
    def quota(self) -> Quota:
        from engram.access.quota import Quota

        return Quota(self.settings.requests_per_minute)

    @part
    def cursors(self) -> Cursors:
        from engram.api.cursors import Cursors

        return Cursors(self.pepper)

    @part
    def api_keys(self) -> ApiKeys:
        from engram.access.api_keys import ApiKeys

        return ApiKeys(self.table, pepper=self.pepper, clock=self.clock)

    @part
    def pepper(self) -> Callable[[], bytes]:
        """The key of our HMACs: from Secrets Manager on AWS, from a file of this installation on one machine."""
        if self.settings.pepper_secret:
            secret = self._secret(self.settings.pepper_secret)
            return lambda: secret().encode()
        if self.settings.pepper:
            return self.settings.pepper.encode
        from engram.access.pepper_file import pepper_from

        return pepper_from(self._folder / "pepper")

    @part
    def _model_key(self) -> Callable[[], str]:
        if self.settings.model_api_key_secret:
            return self._secret(self.settings.model_api_key_secret)
        key = self.settings.model_api_key
        return lambda: key

    def _secret(self, secret_id: str) -> Callable[[], str]:
        from engram.adapters.secrets_manager import SecretsManagerSecret

        return SecretsManagerSecret(secret_id, client=self._client("secretsmanager"))


def _role_credentials() -> AwsCredentials:
    """Of the function's role: Lambda puts them into the environment for the life of the process."""
    from engram.adapters.sigv4 import AwsCredentials

    return AwsCredentials(
        os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"], os.environ.get("AWS_SESSION_TOKEN", "")
    )
