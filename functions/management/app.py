"""Everything but the hot paths: users and what is kept of them, catalogue, usage, Memobase's calls."""

from engram.api.http import entrypoint, resolver
from engram.api.routes import (
    lifecycle,
    memobase_events,
    memobase_profiles,
    memobase_users,
    memories,
    messages,
    usage,
)
from engram.api.routes.catalogue import CatalogueRoutes
from engram.bootstrap import services

app = resolver()

for routes in (messages, memories, lifecycle, usage):
    routes.declare(app)
for routes in (memobase_users, memobase_profiles, memobase_events):
    routes.declare(app)
CatalogueRoutes(app, lambda: services().catalogue)

handler = entrypoint(app)
