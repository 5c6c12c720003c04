"""One tree of errors. Each carries what the edge needs: a stable code, an HTTP status and whether a retry can help.

Messages name fields, limits and ids, never what a user wrote: they are logged and returned.
"""

from __future__ import annotations


class EngramError(Exception):
    """Root of every error Engram raises on purpose.

    Attributes:
        code: stable, UPPER_SNAKE name for programs.
        status: HTTP status at the edge.
        retryable: whether the same call may succeed later, unchanged.
        field: the request field at fault, if one is.
    """

    code = "INTERNAL"
    status = 500
    retryable = False

    def __init__(self, message: str = "", *, field: str | None = None, code: str | None = None) -> None:
        super().__init__(message or self.code)
        self.field = field
        if code is not None:
            self.code = code


class InvalidInput(EngramError):
    """The request does not say something we can act on (400)."""

    code, status = "INVALID_INPUT", 400


class Unauthenticated(EngramError):
    code, status = "UNAUTHENTICATED", 401


class Forbidden(EngramError):
    code, status = "FORBIDDEN", 403


class NotFound(EngramError):
    code, status = "NOT_FOUND", 404


class Gone(NotFound):
    """It was there and has been deleted since (410)."""

    code, status = "GONE", 410


class Conflict(EngramError):
    """The request contradicts what is stored: a reused request id, a lost race (409)."""

    code, status = "CONFLICT", 409


class TooLarge(EngramError):
    """More than a service we stand on can keep (413)."""

    code, status = "TOO_LARGE", 413


class Unprocessable(EngramError):
    """Well formed, and still something we must refuse to keep (422)."""

    code, status = "UNPROCESSABLE", 422


class RateLimited(EngramError):
    """Over the business's quota (429). `retry_after` is in whole seconds."""

    code, status, retryable = "RATE_LIMITED", 429, True

    def __init__(self, message: str = "", *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Unavailable(EngramError):
    """A part we need does not answer now (503)."""

    code, status, retryable = "UNAVAILABLE", 503, True


class Throttled(Unavailable):
    """A part we need asks us to slow down (503)."""

    code = "THROTTLED"


class ModelFailure(EngramError):
    """A model answered, and the answer cannot be used even after one repair: retrying the same call is a new bill."""

    code, status = "MODEL_OUTPUT_INVALID", 502


class ConditionFailed(EngramError):
    """A conditional write found another state. `index` is the position of the write that lost."""

    code, status, retryable = "CONDITION_FAILED", 409, True

    def __init__(self, index: int) -> None:
        super().__init__(f"condition of write {index} failed")
        self.index = index
