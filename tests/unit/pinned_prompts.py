"""What the prompts are pinned to. Run as a module it writes the files anew, after a version was raised."""

# ruff: noqa: E501  (configurations on one line)
from __future__ import annotations

from pathlib import Path

from engram.profile.config import ProfileConfig, parse_config, preset, taxonomy_of
from engram.prompts import versions
from engram.prompts.choosing import choice_prompt, filter_prompt
from engram.prompts.distil import distil_prompt
from engram.prompts.prompt import Prompt
from tests.builders import batch

FOLDER = Path(__file__).parent.parent / "data" / "prompts"

_CONFIG = parse_config(
    "overwrite_user_profiles:\n  - topic: work\n    sub_topics:\n      - name: title\n        description: present role\n"
    "event_tags:\n  - name: mood\n    description: how the user feels\nevent_theme_requirement: note what was decided\n"
)


def rendered() -> dict[str, str]:
    """Name of a pinned file to its text."""
    open_taxonomy = taxonomy_of(ProfileConfig(), _CONFIG, language="en")
    strict = taxonomy_of(ProfileConfig(), preset("strict"), language="en")
    notes = {"n1": "- work::title: nurse"}
    prompts = {
        f"{versions.DISTIL}.en": distil_prompt(batch("I'm a nurse", taxonomy=open_taxonomy)),
        f"{versions.DISTIL}.zh": distil_prompt(batch("我是护士", taxonomy=open_taxonomy, language="zh")),
        f"{versions.DISTIL}.strict.en": distil_prompt(batch("I'm a nurse", taxonomy=strict)),
        f"{versions.FILTER}.en": filter_prompt([("user", "what shifts suit me?")], notes, "en"),
        f"{versions.FILTER}.zh": filter_prompt([("user", "什么班次适合我？")], notes, "zh"),
        f"{versions.CHOOSE}.en": choice_prompt("meeting with MS", "MS", {"E1": "Morgan Studio"}, "en"),
        f"{versions.CHOOSE}.zh": choice_prompt("和MS开会", "MS", {"E1": "Morgan Studio"}, "zh"),
    }
    return {name: _text(prompt) for name, prompt in prompts.items()}


def _text(prompt: Prompt) -> str:
    return f"{prompt.system}\n\n--- data\n{prompt.user}\n\n--- repair\n{prompt.repair('reason')}\n"


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for name, text in rendered().items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
