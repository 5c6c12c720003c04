"""Every key of the table, as pure functions. No other module spells one.

Ids are escaped so that no input can hold the separator: the user `a#b` and the user `a` with something
called `b` are different keys. Everything else stays as written, so keys stay readable.
"""

from __future__ import annotations

from engram.domain.models import MessageRef, OperationStatus
from engram.domain.scope import Scope
from engram.domain.table import IndexKey, Key

SEPARATOR = "#"
_ESCAPES = str.maketrans({"%": "%25", "#": "%23"})
_LAST = "\U0010ffff"


def escape(part: str) -> str:
    """`part` without the separator. Injective."""
    return part.translate(_ESCAPES)


def unescape(part: str) -> str:
    return part.replace("%23", "#").replace("%25", "%")


def join(*parts: str) -> str:
    return SEPARATOR.join(escape(part) for part in parts)


def end_of(prefix: str) -> str:
    """The exclusive end of the range of all sort keys that begin with `prefix`."""
    return prefix + _LAST


# The user's partition ------------------------------------------------------------------------------


def user_partition(scope: Scope) -> str:
    return join("U", scope.business_id, scope.user_id)


def user(scope: Scope) -> Key:
    return Key(user_partition(scope), "USER")


MESSAGES = "MSG#"


def conversation_messages(conversation_id: str) -> str:
    """Prefix of the messages of one conversation."""
    return MESSAGES + escape(conversation_id) + SEPARATOR


def message(scope: Scope, ref: MessageRef) -> Key:
    return Key(user_partition(scope), f"{conversation_messages(ref.conversation_id)}{ref.seq:08d}")


CONVERSATIONS = "CONV#"


def conversation(scope: Scope, conversation_id: str) -> Key:
    return Key(user_partition(scope), CONVERSATIONS + escape(conversation_id))


SESSIONS = "SESS#"


def session(scope: Scope, session_id: str) -> Key:
    """Where the session stands: its present conversation and the seq of the next message."""
    return Key(user_partition(scope), SESSIONS + escape(session_id))


PENDING = "PEND#"


def pending(scope: Scope, operation_id: str) -> Key:
    """Marks messages that are accepted and not yet indexed, so that a read finds them by one query."""
    return Key(user_partition(scope), PENDING + escape(operation_id))


BUFFER = "BUF#"


def buffered(scope: Scope, operation_id: str) -> Key:
    """Messages of one operation that are indexed and not yet distilled."""
    return Key(user_partition(scope), BUFFER + escape(operation_id))


CLIENT_BLOBS = "BLOB#"


def client_blob(scope: Scope, blob_id: str) -> Key:
    """What a Memobase client handed over as one blob: its shape, and where its texts stand as messages."""
    return Key(user_partition(scope), CLIENT_BLOBS + escape(blob_id))


def flush_under_way(scope: Scope) -> Key:
    """Names the flush that a Memobase client asked for last, so that its next read can wait for it."""
    return Key(user_partition(scope), "FLUSHING")


def lagging(scope: Scope) -> Key:
    """Stands while the user's search documents are not complete."""
    return Key(user_partition(scope), "LAGGING")


def unprojected(scope: Scope) -> Key:
    """Marks a user whose hot profile the cache did not take."""
    return Key(user_partition(scope), "UNPROJECTED")


DRAFTS = "DRAFT#"


def draft(scope: Scope, operation_id: str, part: int) -> Key:
    """A model's answer that is not committed yet: asked for once, whatever happens to the worker."""
    return Key(user_partition(scope), f"{DRAFTS}{escape(operation_id)}{SEPARATOR}{part:04d}")


SLOTS = "SLOT#"


def slot(scope: Scope, slot_id: str) -> Key:
    return Key(user_partition(scope), SLOTS + escape(slot_id))


EVENTS = "EVENT#"


def event(scope: Scope, event_id: str) -> Key:
    return Key(user_partition(scope), EVENTS + escape(event_id))


GISTS = "GIST#"


def gist(scope: Scope, happened_at: str, gist_id: str) -> Key:
    """Sorted by when it happened (`clock.to_text`), so that the newest come first in one reverse query."""
    return Key(user_partition(scope), GISTS + join(happened_at, gist_id))


MEMORIES = "MEM#"


def memory(scope: Scope, memory_id: str) -> Key:
    return Key(user_partition(scope), MEMORIES + escape(memory_id))


CLOSED_MEMORIES = "MEMV#"


def closed_memories(memory_id: str) -> str:
    """Prefix of the earlier versions of one memory item."""
    return CLOSED_MEMORIES + escape(memory_id) + SEPARATOR


def closed_memory(scope: Scope, memory_id: str, version: int) -> Key:
    return Key(user_partition(scope), f"{closed_memories(memory_id)}{version:08d}")


def operation(business_id: str, operation_id: str) -> Key:
    """By business and not by user: whoever asks how an operation stands knows only its id."""
    return Key(join("O", business_id, operation_id), "OP")


CHILDREN = "PART#"


def children(business_id: str, operation_id: str, number: int) -> Key:
    """Operations that one operation gave rise to, some hundred a row."""
    return Key(operation(business_id, operation_id).pk, f"{CHILDREN}{number:08d}")


def import_body(business_id: str, operation_id: str) -> Key:
    """That the lines of an import are kept."""
    return Key(operation(business_id, operation_id).pk, "IMPORT")


REQUESTS = "REQ#"


def request(scope: Scope, request_id: str) -> Key:
    return Key(user_partition(scope), REQUESTS + escape(request_id))


USER_OPERATIONS = "OP#"


def operation_of_user(scope: Scope, operation_id: str) -> Key:
    """Names an operation that no request record names, so that a deletion finds it without a search."""
    return Key(user_partition(scope), USER_OPERATIONS + escape(operation_id))


METERS = "METER#"


def meter(scope: Scope, day: str) -> Key:
    return Key(user_partition(scope), METERS + day)


# What outlives the user's rows ---------------------------------------------------------------------


def tombstones(scope: Scope) -> Key:
    """What is deleted and perhaps not yet purged. Holds ids and counts, nothing that was said."""
    return Key(join("T", scope.business_id, scope.user_id), "TOMBSTONES")


DOCUMENTS = "VEC#"


def document(scope: Scope, doc_id: str) -> Key:
    """The search row of one document."""
    return Key(user_partition(scope), DOCUMENTS + escape(doc_id))


DOCUMENT_CHANGES = "VECLOG#"


def documents_head(scope: Scope) -> Key:
    """Version of the user's search rows: one read tells whether a copy of them is current."""
    return Key(user_partition(scope), "VECHEAD")


def document_changes(version: int) -> str:
    """Sort key of what one version of the search rows changed."""
    return f"{DOCUMENT_CHANGES}{version:012d}"


def document_change(scope: Scope, version: int) -> Key:
    return Key(user_partition(scope), document_changes(version))


# The business's partition --------------------------------------------------------------------------


def business_partition(business_id: str) -> str:
    return join("B", business_id)


def business_config(business_id: str) -> Key:
    return Key(business_partition(business_id), "CONFIG")


API_KEYS = "KEY#"


def api_key(business_id: str, key_id: str) -> Key:
    """The record of an API key; `key_id` is derived from the key's HMAC."""
    return Key(business_partition(business_id), API_KEYS + escape(key_id))


def business_meter(business_id: str, day: str, shard: str) -> Key:
    """A part of a business's day: one row for all would be written by everybody at once."""
    return Key(business_partition(business_id), METERS + join(day, shard))


def catalogue_head(business_id: str) -> Key:
    """Version of the business's catalogue: one read tells whether a compiled copy is current."""
    return Key(business_partition(business_id), "CATALOGUE")


CATALOGUE_TOPICS = "TOPIC#"
CATALOGUE_ENTITIES = "ENTITY#"
CATALOGUE_WORDS = "HEAD#"


def catalogue_partition(business_id: str) -> str:
    """What a business has changed of the shipped catalogue."""
    return join("B", business_id, "CATALOGUE")


def catalogue_topic(business_id: str, topic_id: str) -> Key:
    return Key(catalogue_partition(business_id), CATALOGUE_TOPICS + escape(topic_id))


def catalogue_entity(business_id: str, entity_id: str) -> Key:
    return Key(catalogue_partition(business_id), CATALOGUE_ENTITIES + escape(entity_id))


def catalogue_word(business_id: str, word: str) -> Key:
    """A word that alone may mean one of several topics."""
    return Key(catalogue_partition(business_id), CATALOGUE_WORDS + escape(word))


# The sparse index ----------------------------------------------------------------------------------


def users_of(business_id: str) -> str:
    """Index partition that lists a business's users by id."""
    return join("USERS", business_id)


def user_listing(scope: Scope) -> IndexKey:
    return IndexKey(users_of(scope.business_id), escape(scope.user_id))


LAGGING = "LAGGING"
"""Index partition of users whose search documents are to be rebuilt, by when."""


def lagging_listing(scope: Scope, due: str) -> IndexKey:
    return IndexKey(LAGGING, due + SEPARATOR + join(scope.business_id, scope.user_id))


UNPROJECTED = "UNPROJECTED"
"""Index partition of users whose hot profile the cache did not take."""


def unprojected_listing(scope: Scope) -> IndexKey:
    return IndexKey(UNPROJECTED, join(scope.business_id, scope.user_id))


def scope_of_unprojected(sort_key: str) -> Scope:
    """The scope named by an index sort key of `unprojected_listing`."""
    business_id, user_id = sort_key.split(SEPARATOR)
    return Scope(unescape(business_id), unescape(user_id))


BUFFERS_DUE = "DUE"
"""Index partition of buffers, by the time at which they are to be distilled."""


def buffer_due(scope: Scope, due: str, operation_id: str) -> IndexKey:
    return IndexKey(BUFFERS_DUE, due + SEPARATOR + join(scope.business_id, scope.user_id, operation_id))


IMPORT_BODIES = "IMPORTS"
"""Index partition of imports whose lines are kept, by when to see whether they are still wanted."""


def import_body_due(business_id: str, due: str, operation_id: str) -> IndexKey:
    scope = Scope.of_business(business_id)
    return IndexKey(IMPORT_BODIES, due + SEPARATOR + join(scope.business_id, scope.user_id, operation_id))


def operations_in(status: OperationStatus) -> str:
    """Index partition of operations in one status that is not final, by last change."""
    return join("OPS", status.value)


def operation_listing(scope: Scope, status: OperationStatus, updated_at: str, operation_id: str) -> IndexKey:
    who = join(scope.business_id, scope.user_id, operation_id)
    return IndexKey(operations_in(status), updated_at + SEPARATOR + who)


def scope_of_listing(sort_key: str) -> Scope:
    """The scope named by an index sort key of `buffer_due`, `operation_listing` or `import_body_due`."""
    parts = sort_key.split(SEPARATOR)
    return Scope(unescape(parts[1]), unescape(parts[2]))


def unresolved_in(business_id: str) -> str:
    """Index partition of conversations in which names stand that the catalogue does not know."""
    return join("UNRESOLVED", business_id)


def unresolved_listing(scope: Scope, conversation_id: str) -> IndexKey:
    return IndexKey(unresolved_in(scope.business_id), join(scope.user_id, conversation_id))


def user_of_listing(sort_key: str) -> str:
    """The user named by an index sort key of `user_listing` or `unresolved_listing`."""
    return unescape(sort_key.split(SEPARATOR)[0])
