"""The scheduled sweep: lost work is sent again, idle buffers are distilled."""

from dataclasses import asdict

from engram.bootstrap import services


def handler(event: dict, context: object) -> dict:
    return asdict(services().sweep.run())
