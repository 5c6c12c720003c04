"""Everything that is neither a read for a prompt nor the acceptance of messages: users, rows, configuration."""

from engram.api.http import entrypoint, resolver
from engram.api.routes import memobase_blobs, memobase_events, memobase_profiles, memobase_users

app = resolver()
for routes in (memobase_users, memobase_profiles, memobase_events, memobase_blobs):
    routes.declare(app)

handler = entrypoint(app)
