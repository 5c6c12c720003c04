"""Settings: parsed once, refused by name."""

import pytest

from engram.domain.errors import InvalidInput
from engram.settings import FIELDS, Settings


def test_nothing_set_is_one_machine_with_everything_in_a_folder():
    settings = Settings.parse({})
    assert (settings.stack, settings.search, settings.distiller) == ("embedded", "partition", "rules")
    assert (settings.chooser, settings.chooser_model) == ("none", "")


def test_an_empty_variable_counts_as_not_set():
    assert Settings.parse({"ENGRAM_BUFFER_TOKENS": "", "ENGRAM_SEARCH": ""}) == Settings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENGRAM_BUFFER_TOKENS", "many"),
        ("ENGRAM_SEARCH", "bing"),
        ("ENGRAM_STACK", "gcp"),
        ("ENGRAM_CHOOSER", "rules"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_name_and_not_repeated(name, value):
    with pytest.raises(InvalidInput, match=name) as refused:
        Settings.parse({name: value})
    assert value not in str(refused.value)


def test_secrets_do_not_show_in_a_printed_setting():
    settings = Settings.parse({FIELDS["pepper"]: "salt-and-more", FIELDS["model_api_key"]: "sk-model"})
    assert "salt-and-more" not in repr(settings)
    assert "sk-model" not in repr(settings)
