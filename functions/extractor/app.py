"""The queue's consumer: index, distil, commit, project."""

from engram.api.queue import queue_entrypoint
from engram.bootstrap import services

handler = queue_entrypoint(lambda: services().extractor, after=lambda: services().meter.flush_if_due())
