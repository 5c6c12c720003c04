"""What was used, per day (UTC): of one user, and of the business."""

from __future__ import annotations

from typing import Any

from engram.api.http import business_of, query_of, scope_of
from engram.api.lifecycle_schemas import UsageQuery
from engram.api.resolver import HttpResolver
from engram.bootstrap import services


def declare(app: HttpResolver) -> None:
    """Declares the routes on `app`."""

    @app.get("/v1/users/<user_id>/usage")
    def usage_of_user(user_id: str) -> dict[str, Any]:
        scope = scope_of(app, user_id)
        start, end = query_of(app, UsageQuery).bounds()
        return _body({"user_id": scope.user_id}, services().meter.days(scope, start=start, end=end))

    @app.get("/v1/usage")
    def usage_of_business() -> dict[str, Any]:
        business = business_of(app)
        start, end = query_of(app, UsageQuery).bounds()
        return _body({"business_id": business}, services().meter.business_days(business, start=start, end=end))


def _body(who: dict[str, str], days: dict[str, dict[str, int]]) -> dict[str, Any]:
    total: dict[str, int] = {}
    for amounts in days.values():
        for name, amount in amounts.items():
            total[name] = total.get(name, 0) + amount
    return {**who, "days": [{"day": day, **amounts} for day, amounts in sorted(days.items())], "total": total}
