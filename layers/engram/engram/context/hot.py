"""The hot profile: all that a context block is made of, rendered and counted, as one cache entry.

It is a projection of the user's rows and the business's rules. What it was made from is in its version, so that the
cache can refuse an older one; it is never a source of anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo

import msgspec

from engram.context.lines import gist_line, slot_line
from engram.domain.models import Gist, ProfileSlot, User
from engram.ports import CacheEntry
from engram.profile.rules import ProfileRules
from engram.profile.taxonomy import attribute_unify

KEPT_GISTS = 60
"""Most recent gists in a hot profile: as many as a context block may choose from."""

FORMAT = 1
_RULES_VERSIONS = 1 << 20


class HotSlot(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A profile slot as a line. `topic` is after `attribute_unify`; `updated` in unix seconds."""

    id: str
    topic: str
    text: str
    tokens: int
    updated: float


class HotGist(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A gist as a line. `happened` in unix seconds."""

    id: str
    text: str
    tokens: int
    happened: float
    summarised: bool = True


class HotProfile(msgspec.Struct, frozen=True, array_like=True):
    """One user's slots and newest gists.

    Attributes:
        slots: newest change first.
        gists: the `KEPT_GISTS` that happened last, newest first.
        language: of the block's template.
    """

    format: int
    epoch: int
    profile_version: int
    rules_version: int
    language: str
    slots: tuple[HotSlot, ...] = ()
    gists: tuple[HotGist, ...] = ()

    def entry(self) -> CacheEntry:
        """As a cache entry. A change of the rules makes a newer one of the same profile."""
        version = self.profile_version * _RULES_VERSIONS + self.rules_version % _RULES_VERSIONS
        return CacheEntry(epoch=self.epoch, version=version, payload=msgspec.json.encode(self))


def hot_profile(
    user: User, *, slots: Iterable[ProfileSlot], gists: Iterable[Gist], rules: ProfileRules, zone: tzinfo
) -> HotProfile:
    """The hot profile of rows read together. Slots that a strict taxonomy does not have are not shown."""
    shown = (slot for slot in slots if rules.taxonomy.allows(slot.topic, slot.sub_topic))
    standing = (one for one in gists if not one.overtaken)
    newest = sorted(standing, key=lambda one: (one.happened_at, one.id), reverse=True)[:KEPT_GISTS]
    return HotProfile(
        format=FORMAT,
        epoch=user.epoch,
        profile_version=user.profile_version,
        rules_version=rules.version,
        language=rules.language,
        slots=tuple(sorted(map(hot_slot, shown), key=lambda one: (-one.updated, one.id))),
        gists=tuple(hot_gist(one, zone) for one in newest),
    )


def hot_slot(slot: ProfileSlot) -> HotSlot:
    text = slot_line(slot.topic, slot.sub_topic, slot.content)
    return HotSlot(slot.id, attribute_unify(slot.topic), text, slot.tokens, slot.updated_at.timestamp())


def hot_gist(gist: Gist, zone: tzinfo) -> HotGist:
    text = gist_line(gist.content, gist.happened_at, zone)
    return HotGist(gist.id, text, gist.tokens, gist.happened_at.timestamp(), gist.summarised)


def decode_hot(payload: bytes) -> HotProfile | None:
    """The hot profile of an entry; None for one that another version of this code wrote."""
    try:
        found = msgspec.json.decode(payload, type=HotProfile)
    except msgspec.DecodeError:
        return None
    return found if found.format == FORMAT else None
