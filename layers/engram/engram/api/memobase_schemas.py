"""Bodies and queries of Memobase's calls. What they answer is made in `memobase.views`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from engram.domain.models import EventTag, ProfileDelta, Role
from engram.memobase.blob_shapes import BlobType
from engram.memobase.events import EventChange
from engram.memobase.ids import check_uuid
from engram.memobase.imports import ImportedEvent, ImportedSlot
from engram.memobase.profiles import SlotDraft

MAX_TOP_K = 1_000
TopK = Annotated[int, Field(ge=0, le=MAX_TOP_K)]
Cosine = Annotated[float, Field(ge=-1, le=1, allow_inf_nan=False)]
Days = Annotated[int, Field(ge=0, le=36_500)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class UserBody(Strict):
    """`POST /users`; times are taken and left aside, as the server they come from does."""

    data: dict[str, Any] | None = None
    id: str | None = None
    created_at: Any = None
    updated_at: Any = None


class UserDataBody(BaseModel):
    """`PUT /users/{user_id}`: `{"data": {…}}`, or the data itself as Memobase's client for Go sends it."""

    model_config = ConfigDict(extra="allow")

    data: dict[str, Any] | None = None

    def to_data(self) -> dict[str, Any] | None:
        bare = self.model_extra or {}
        if not bare:
            return self.data
        return bare if self.data is None else {"data": self.data, **bare}


class AttributesBody(BaseModel):
    model_config = ConfigDict(extra="allow")

    topic: str
    sub_topic: str


class ProfileBody(Strict):
    """`POST /users/profile/{user_id}` and `PUT …/{profile_id}`, which may leave the attributes as they are."""

    content: str
    attributes: AttributesBody | None = None

    def to_draft(self) -> SlotDraft:
        if self.attributes is None:
            return SlotDraft("", "", self.content)
        extra = self.attributes.model_extra or {}
        return SlotDraft(self.attributes.topic, self.attributes.sub_topic, self.content, extra)


class TextImportBody(Strict):
    """`POST /users/profile/import/{user_id}`."""

    context: str


class DeltaBody(Strict):
    content: str = Field(max_length=20_000)
    attributes: dict[str, Any] | None = None

    def to_delta(self) -> ProfileDelta:
        names = self.attributes or {}
        return ProfileDelta(str(names.get("topic", "")), str(names.get("sub_topic", "")), self.content)


class TagBody(Strict):
    tag: str = Field(min_length=1, max_length=100)
    value: str = Field(max_length=1_000)


class EventBody(Strict):
    """`PUT /users/event/{user_id}/{event_id}`; what is not there stays as it is."""

    event_tip: str | None = None
    event_tags: list[TagBody] | None = Field(default=None, max_length=100)
    profile_delta: list[DeltaBody] | None = Field(default=None, max_length=200)

    def to_change(self) -> EventChange:
        return EventChange(
            summary=self.event_tip,
            delta=None if self.profile_delta is None else tuple(one.to_delta() for one in self.profile_delta),
            tags=None if self.event_tags is None else tuple(EventTag(one.tag, one.value) for one in self.event_tags),
        )


class TurnBody(BaseModel):
    """A turn of a chat. Further keys are kept and given back."""

    model_config = ConfigDict(extra="allow")

    role: Role
    content: str = Field(min_length=1)
    alias: str | None = None
    created_at: str | None = None


class BlobData(Strict):
    """What a blob holds. Memobase's client for TypeScript repeats the blob's columns in it: these are left aside."""

    type: Any = Field(default=None, exclude=True)
    fields: Any = Field(default=None, exclude=True)
    created_at: Any = Field(default=None, exclude=True)


class ChatData(BlobData):
    messages: list[TurnBody] = Field(min_length=1, max_length=2_000)


class ContentData(BlobData):
    content: str = Field(min_length=1)


class CodeData(ContentData):
    language: str | None = None


class SummaryData(BlobData):
    summary: str = Field(min_length=1)


class ImageData(BlobData):
    url: str | None = Field(default=None, max_length=4_000)
    base64: str | None = None


class StampBody(Strict):
    content: str = Field(min_length=1)
    start_timestamp_in_seconds: float = Field(ge=0, le=31_536_000, allow_inf_nan=False)
    end_time_timestamp_in_seconds: float | None = Field(default=None, allow_inf_nan=False)
    speaker: str | None = Field(default=None, max_length=256)


class TranscriptData(BlobData):
    transcripts: list[StampBody] = Field(min_length=1, max_length=2_000)


DATA_OF: dict[BlobType, type[BaseModel]] = {
    BlobType.CHAT: ChatData,
    BlobType.DOC: ContentData,
    BlobType.SUMMARY: SummaryData,
    BlobType.CODE: CodeData,
    BlobType.IMAGE: ImageData,
    BlobType.TRANSCRIPT: TranscriptData,
}


class BlobBody(Strict):
    """`POST /blobs/insert/{user_id}`; `blob_data` is checked against `DATA_OF` its type."""

    blob_type: BlobType
    blob_data: dict[str, Any]
    fields: dict[str, Any] | None = None
    created_at: str | None = None
    updated_at: Any = None


class ConfigBody(Strict):
    """`POST /project/profile_config`."""

    profile_config: str


class WaitQuery(Strict):
    wait_process: bool = False


class PageQuery(Strict):
    page: int = Field(default=0, ge=0, le=1_000_000)
    page_size: int = Field(default=10, ge=1, le=1_000)


class CapacityQuery(Strict):
    status: Literal["idle", "processing", "done", "failed"] = "processing"


class EventsQuery(Strict):
    topk: TopK = 10
    max_token_size: int | None = Field(default=None, ge=0)
    need_summary: bool = False


class SearchQuery(Strict):
    query: str = Field(max_length=10_000)
    topk: TopK = 10
    similarity_threshold: Cosine = 0.2
    time_range_in_days: Days = 180


class TagsQuery(Strict):
    """`tags=a,b` and `tag_values=c=1,d=2`."""

    tags: str = Field(default="", max_length=4_000)
    tag_values: str = Field(default="", max_length=4_000)
    topk: TopK = 10


class UsersQuery(Strict):
    search: str = Field(default="", max_length=128)
    order_by: Literal["updated_at", "profile_count", "event_count"] = "updated_at"
    order_desc: bool = True
    limit: int = Field(default=10, ge=1, le=1_000)
    offset: int = Field(default=0, ge=0, le=1_000_000)


class UsageQuery(Strict):
    last_days: int = Field(default=7, ge=1, le=366)


class ImportedProfileBody(Strict):
    id: str
    content: str
    attributes: AttributesBody
    created_at: AwareDatetime | None = None
    updated_at: AwareDatetime | None = None

    def to_slot(self) -> ImportedSlot:
        draft = SlotDraft(
            self.attributes.topic, self.attributes.sub_topic, self.content, self.attributes.model_extra or {}
        )
        return ImportedSlot(check_uuid(self.id, "profiles.id"), draft, self.created_at, self.updated_at)


class ImportedEventBody(Strict):
    id: str
    event_data: EventBody
    created_at: AwareDatetime | None = None
    updated_at: AwareDatetime | None = None

    def to_event(self) -> ImportedEvent:
        change = self.event_data.to_change()
        return ImportedEvent(
            id=check_uuid(self.id, "events.id"),
            summary=change.summary or "",
            delta=change.delta or (),
            tags=change.tags or (),
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


class ImportBody(Strict):
    """`POST /users/import/{user_id}`: rows of another Memobase server, under their own ids and times."""

    data: dict[str, Any] | None = None
    profiles: list[ImportedProfileBody] = Field(default_factory=list, max_length=50)
    events: list[ImportedEventBody] = Field(default_factory=list, max_length=20)
