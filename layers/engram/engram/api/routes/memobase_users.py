"""Memobase's users and project calls."""

from __future__ import annotations

from typing import Any

from engram.api.http import App, body_of, business_of, query_of
from engram.api.memobase import MemobaseApp, enveloped, user_scope
from engram.api.memobase_schemas import ConfigBody, ImportBody, UsageQuery, UserBody, UserDataBody, UsersQuery
from engram.bootstrap import services
from engram.memobase.ids import check_uuid
from engram.memobase.users import UserListing
from engram.memobase.views import listed_user_view, user_view


def declare(app: MemobaseApp) -> None:
    """Declares the routes on `app`."""
    _declare_users(app)
    _declare_import(app)
    _declare_project(app)


def _declare_users(app: MemobaseApp) -> None:
    @app.get("/api/v1/healthcheck")
    @enveloped
    def healthcheck() -> None:
        return None

    @app.post("/api/v1/users")
    @enveloped
    def create_user() -> dict[str, Any]:
        body = body_of(app, UserBody)
        user_id = check_uuid(body.id, "id") if body.id is not None else None
        return {"id": services().memobase.users.create(business_of(app), user_id=user_id, data=body.data)}

    @app.get("/api/v1/users/<user_id>")
    @enveloped
    def get_user(user_id: str) -> dict[str, Any]:
        return user_view(services().memobase.users.get(user_scope(app, user_id)))

    @app.put("/api/v1/users/<user_id>")
    @enveloped
    def update_user(user_id: str) -> dict[str, Any]:
        scope = user_scope(app, user_id)
        return {"id": services().memobase.users.update(scope, body_of(app, UserDataBody).to_data())}

    @app.delete("/api/v1/users/<user_id>")
    @enveloped
    def delete_user(user_id: str) -> None:
        services().memobase.users.delete(user_scope(app, user_id))


def _declare_import(app: MemobaseApp) -> None:
    @app.post("/api/v1/users/import/<user_id>")
    @enveloped
    def import_user(user_id: str) -> dict[str, Any]:
        scope = user_scope(app, user_id)
        body = body_of(app, ImportBody)
        refused = services().memobase.imports.run(
            scope,
            data=body.data,
            slots=[one.to_slot() for one in body.profiles],
            events=[one.to_event() for one in body.events],
        )
        return {"refused": [{"kind": one.kind, "id": one.id, "reason": one.reason} for one in refused]}


def _declare_project(app: MemobaseApp) -> None:
    @app.get("/api/v1/project/users")
    @enveloped
    def list_users() -> dict[str, Any]:
        return _listed(app, query_of(app, UsersQuery))

    @app.get("/api/v1/project/profile_config")
    @enveloped
    def get_config() -> dict[str, Any]:
        return {"profile_config": services().memobase.projects.config(business_of(app))}

    @app.post("/api/v1/project/profile_config")
    @enveloped
    def set_config() -> None:
        services().memobase.projects.set_config(business_of(app), body_of(app, ConfigBody).profile_config)

    @app.get("/api/v1/project/billing")
    @enveloped
    def billing() -> dict[str, Any]:
        used = services().memobase.projects.tokens_this_month(business_of(app))
        return {"token_left": None, "next_refill_at": None, "project_token_cost_month": used}

    @app.get("/api/v1/project/usage")
    @enveloped
    def usage() -> list[dict[str, Any]]:
        days = query_of(app, UsageQuery).last_days
        return list(services().memobase.projects.usage(business_of(app), days))


def _listed(app: App, query: UsersQuery) -> dict[str, Any]:
    business_id = business_of(app)
    listing = UserListing(query.search, query.order_by, query.order_desc, query.limit, query.offset)
    found, count = services().memobase.users.find(business_id, listing)
    views = [
        listed_user_view(
            one.user, business_id=business_id, profile_count=one.profile_count, event_count=one.event_count
        )
        for one in found
    ]
    return {"users": views, "count": count}
