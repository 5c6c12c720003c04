"""/v1/catalog: the closed topics and entities of a business, for people to see and edit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aws_lambda_powertools.event_handler import Response

from engram.access.scopes import KeyScope, needs
from engram.api.catalogue_schemas import (
    AliasBody,
    ImportQuery,
    ListQuery,
    NameQuery,
    UnresolvedQuery,
    changed_body,
    definition_body,
    meaning_body,
    report_body,
    shown_body,
    unresolved_body,
)
from engram.api.http import (
    PROBLEM,
    body_of,
    business_of,
    claims,
    json_body,
    query_of,
    raw_body,
    to_json,
)
from engram.api.resolver import HttpResolver
from engram.catalogue.checks import check_language, check_name, check_text
from engram.catalogue.importing import format_of
from engram.catalogue.parsing import Provenance, entity_of, topic_of
from engram.catalogue.service import CatalogueService, Shown, names
from engram.domain.errors import InvalidInput
from engram.resolve.aliases import key_of
from engram.resolve.definitions import AliasDefinition

UNRESOLVED_LOOKED_AT = 5_000
"""Conversations whose unknown names one call counts."""

_SHOWN_ONLY = frozenset(("origin", "version", "operation_id"))
"""What answers say beside a definition, so that one can be put back as it was shown."""

Body = dict[str, Any]


class CatalogueRoutes:
    """The routes, on the resolver that serves them."""

    def __init__(self, app: HttpResolver, catalogue: Callable[[], CatalogueService]) -> None:
        self._app = app
        self._catalogue = catalogue
        for kind in ("topic", "entity"):
            self._declare_kind(kind, "topics" if kind == "topic" else "entities")
        app.get("/v1/catalog/aliases")(self.meanings)
        app.get("/v1/catalog/unresolved")(self.unresolved)
        app.post("/v1/catalog/import")(needs(KeyScope.ADMIN)(self.load))
        app.delete("/v1/catalog")(needs(KeyScope.ADMIN)(self.reset))

    def meanings(self) -> Body:
        name = query_of(self._app, NameQuery).name
        found = self._catalogue().meanings(business_of(self._app), name)
        return {"name": name, "ambiguous": len(found) > 1, "targets": [meaning_body(one) for one in found]}

    def unresolved(self) -> Body:
        limit = query_of(self._app, UnresolvedQuery).limit
        business = business_of(self._app)
        found, more = self._catalogue().unresolved(business, limit=limit, look_at=UNRESOLVED_LOOKED_AT)
        return {"unresolved": [unresolved_body(one) for one in found], "truncated": more}

    def load(self) -> Response[str]:
        """200 with what was done, or would be; 409 with the conflicts if they refuse the import."""
        asked = query_of(self._app, ImportQuery)
        data = raw_body(self._app)
        if not data.strip():
            raise InvalidInput("body must hold the file", field="body")
        content_type = self._app.current_event.headers.get("content-type", "")
        form = asked.format or format_of(content_type, data)
        provenance = Provenance("import", self._editor())
        report = self._catalogue().load(business_of(self._app), data, form, provenance, dry_run=asked.dry_run)
        if asked.dry_run or report.applied:
            return Response(200, "application/json", to_json(report_body(report)))
        problem = {
            "type": "about:blank",
            "title": "Conflict",
            "status": 409,
            "code": "IMPORT_CONFLICTS",
            "detail": "nothing was imported: the file contradicts itself or names what does not exist",
        }
        return Response(409, PROBLEM, to_json(problem | report_body(report)))

    def reset(self) -> Body:
        return changed_body(self._catalogue().reset(business_of(self._app)))

    def _declare_kind(self, kind: str, path: str) -> None:
        app, catalogue = self._app, self._catalogue

        def listed() -> Body:
            shown = catalogue().topics if kind == "topic" else catalogue().entities
            return self._page(path, shown(business_of(app)))

        def one(identifier: str) -> Body:
            shown = catalogue().topic if kind == "topic" else catalogue().entity
            return shown_body(shown(business_of(app), identifier))

        def put(identifier: str) -> Body:
            return self._put(kind, identifier)

        def delete(identifier: str) -> Body:
            remove = catalogue().delete_topic if kind == "topic" else catalogue().delete_entity
            return changed_body(remove(business_of(app), identifier))

        def put_alias(identifier: str, alias: str) -> Body:
            return self._put_alias(kind, identifier, alias)

        def delete_alias(identifier: str, alias: str) -> Body:
            return changed_body(catalogue().delete_alias(business_of(app), kind, identifier, alias))

        app.get(f"/v1/catalog/{path}")(listed)
        app.get(f"/v1/catalog/{path}/<identifier>")(one)
        app.put(f"/v1/catalog/{path}/<identifier>")(needs(KeyScope.ADMIN)(put))
        app.delete(f"/v1/catalog/{path}/<identifier>")(needs(KeyScope.ADMIN)(delete))
        app.put(f"/v1/catalog/{path}/<identifier>/aliases/<alias>")(needs(KeyScope.ADMIN)(put_alias))
        app.delete(f"/v1/catalog/{path}/<identifier>/aliases/<alias>")(needs(KeyScope.ADMIN)(delete_alias))

    def _page(self, path: str, shown: Sequence[Shown]) -> Body:
        asked = query_of(self._app, ListQuery)
        key = key_of(asked.name)
        matching = [
            one
            for one in shown
            if (not asked.origin or one.origin == asked.origin)
            and (not asked.type or getattr(one.definition, "type", "") == asked.type)
            and (not key or key in {key_of(name) for name in names(one.definition)})
        ]
        found = [one for one in matching if one.definition.id > asked.after]
        page = found[: asked.limit]
        after = page[-1].definition.id if len(found) > len(page) else None
        return {path: [shown_body(one) for one in page], "total": len(matching), "after": after}

    def _put(self, kind: str, identifier: str) -> Body:
        body = json_body(self._app)
        if not isinstance(body, dict):
            raise InvalidInput("body must be an object", field="body")
        if body.get("id", identifier) != identifier:
            raise InvalidInput("id in the body is not the one in the path", field="id")
        row = {name: value for name, value in body.items() if name not in _SHOWN_ONLY} | {"id": identifier}
        provenance = Provenance("api", self._editor())
        business, catalogue = business_of(self._app), self._catalogue()
        if kind == "topic":
            changed = catalogue.put_topic(business, topic_of(row, provenance))
            return shown_body(catalogue.topic(business, identifier)) | changed_body(changed)
        changed = catalogue.put_entity(business, entity_of(row, provenance))
        return shown_body(catalogue.entity(business, identifier)) | changed_body(changed)

    def _put_alias(self, kind: str, identifier: str, alias: str) -> Body:
        body = body_of(self._app, AliasBody)
        definition = AliasDefinition(
            text=check_name(alias, "alias"),
            language=check_language(body.language, "language"),
            source=check_text(body.source, "source", 128),
            editor=check_text(body.editor or self._editor(), "editor", 128, empty=True),
        )
        business, catalogue = business_of(self._app), self._catalogue()
        changed = catalogue.put_alias(business, kind, identifier, definition)
        shown = catalogue.topic if kind == "topic" else catalogue.entity
        return definition_body(shown(business, identifier).definition) | changed_body(changed)

    def _editor(self) -> str:
        """Who edits: the API key's own id."""
        return str(claims(self._app).get("key_id", ""))
