"""From what is kept to what is searched: one document per message, gist and memory item, and the text to embed.

The write path and every rebuild go through these functions, so that a rebuilt index equals the one it replaces.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from engram.domain.documents import MAX_TEXT_CHARACTERS, Document, DocumentKind
from engram.domain.models import Gist, MemoryItem, Message, MessageRef

_CHINESE_NAMES = {
    "姓名": "name", "昵称": "preferred_name", "年龄": "age", "性别": "gender", "生日": "birthday", "居住城市": "city",
    "家乡": "hometown", "国籍": "nationality", "语言": "languages", "邮箱": "email", "电话": "phone", "地址": "address",
    "学校": "school", "学历": "degree", "专业": "major", "婚姻状况": "marital_status", "家庭": "family",
    "子女": "children", "宠物": "pets", "公司": "company", "职位": "title", "行业": "industry", "技能": "skills",
    "爱好": "likes", "不喜欢": "dislikes", "音乐": "music", "运动": "sports", "美食": "foods", "饮食": "diet",
    "锻炼": "exercise", "过敏": "allergies", "健康状况": "conditions", "用药": "medication",
}  # fmt: skip

EMBEDDED_PREVIOUS_CHARACTERS = 240
"""Of the message before: its end, where the question stands that this one answers."""
EMBEDDED_CHARACTERS = 1_200
"""Of the message itself: an embedding of a whole article is near everything and close to nothing."""


def message_document_id(ref: MessageRef) -> str:
    return f"m:{ref.conversation_id}:{ref.seq}"


def ref_of_document(doc_id: str) -> MessageRef | None:
    """The message of a document; None for a gist or a memory item."""
    kind, _, rest = doc_id.partition(":")
    conversation_id, _, seq = rest.rpartition(":")
    return MessageRef(conversation_id, int(seq)) if kind == "m" and seq.isdigit() else None


def gist_document_id(gist_id: str) -> str:
    return f"g:{gist_id}"


def memory_document_id(memory_id: str) -> str:
    return f"i:{memory_id}"


def documents_of_messages(
    messages: Sequence[Message],
    entity_ids: Sequence[str] = (),
    topic_ids: Sequence[str] = (),
    *,
    before: Message | None = None,
) -> list[Document]:
    """One document per visible message of one conversation, in the order given, without vectors.

    Args:
        before: the message that stands before the first of `messages`, where there is one; it gets no document.
    """
    documents = []
    previous = before
    for message in messages:
        if not message.hidden:
            documents.append(_of_message(message, previous, tuple(entity_ids), tuple(topic_ids)))
        previous = message
    return documents


def document_of_gist(gist: Gist, entity_ids: Sequence[str] = (), topic_ids: Sequence[str] = ()) -> Document:
    return Document(
        doc_id=gist_document_id(gist.id),
        kind=DocumentKind.GIST,
        version=gist.version,
        occurred_at=gist.happened_at,
        text=gist.content[:MAX_TEXT_CHARACTERS],
        entity_ids=tuple(entity_ids),
        topic_ids=tuple(topic_ids),
    )


def document_of_memory(item: MemoryItem, entity_ids: Sequence[str] = (), topic_ids: Sequence[str] = ()) -> Document:
    return Document(
        doc_id=memory_document_id(item.id),
        kind=DocumentKind.MEMORY,
        version=item.version,
        occurred_at=item.valid_from,
        text=memory_text(item)[:MAX_TEXT_CHARACTERS],
        entity_ids=tuple(entity_ids),
        topic_ids=tuple(topic_ids),
    )


def memory_text(item: MemoryItem) -> str:
    """What a memory item is found by: its content, and the words in which one asks for such a thing.

    "Where do I live?" shares no word with "Tokyo"; it does not ask where the mother lives.
    """
    if item.subject != "user":
        return item.content
    sub_topic = item.sub_topic.casefold()
    asked = _asked_as().get(sub_topic, sub_topic.replace("_", " "))
    return f"{item.content}\n{asked}" if asked else item.content


@lru_cache(maxsize=1)
def _asked_as() -> dict[str, str]:
    """Words of a question by sub-topic, under its English and its Chinese name."""
    words: dict[str, str] = json.loads(Path(__file__).with_name("asked_as.json").read_text(encoding="utf-8"))
    return words | {chinese: words[english] for chinese, english in _CHINESE_NAMES.items()}


def embedding_text(document: Document) -> str:
    """What is embedded of a document: the end of the turn before, then the turn."""
    text = document.text[:EMBEDDED_CHARACTERS]
    previous = document.previous[-EMBEDDED_PREVIOUS_CHARACTERS:]
    return f"{previous}\n{text}" if previous and text.strip() else text


def _of_message(
    message: Message, previous: Message | None, entity_ids: tuple[str, ...], topic_ids: tuple[str, ...]
) -> Document:
    follows = (
        previous is not None
        and not previous.hidden
        and previous.conversation_id == message.conversation_id
        and previous.seq + 1 == message.seq
    )
    return Document(
        doc_id=message_document_id(message.ref),
        kind=DocumentKind.MESSAGE,
        version=message.version,
        occurred_at=message.created_at,
        text=message.content[:MAX_TEXT_CHARACTERS],
        previous=previous.content[:MAX_TEXT_CHARACTERS] if follows and previous is not None else "",
        conversation_id=message.conversation_id,
        session_id=message.session_id,
        seq=message.seq,
        role=message.role.value,
        speaker=message.name,
        entity_ids=entity_ids,
        topic_ids=topic_ids,
    )
