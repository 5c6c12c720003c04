"""The catalogue as people edit it: ids from people only, ambiguity kept, imports that say what they would do."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.api.catalogue_schemas import definition_body
from engram.bootstrap import Services
from engram.catalogue.checks import MAX_NAME_CHARACTERS
from engram.catalogue.importing import format_of
from engram.catalogue.parsing import Provenance, entity_of, topic_of
from engram.domain.errors import EngramError, InvalidInput, NotFound
from engram.resolve.definitions import AliasDefinition
from engram.resolve.models import ResolveContext
from engram.settings import Settings

BY = Provenance("api", "key-1")
COUNTER = count()


@pytest.fixture
def services(tmp_path):
    return Services(Settings(data_dir=str(tmp_path), embedder="none"))


@pytest.fixture
def catalogue(services):
    return services.catalogue


def entity(identifier, name, *aliases, kind="project"):
    return entity_of({"id": identifier, "name": name, "type": kind, "aliases": list(aliases)}, BY)


def load(catalogue, document, form="json", *, dry_run=False):
    data = document if isinstance(document, bytes) else json.dumps(document, ensure_ascii=False).encode()
    return catalogue.load("acme", data, form, Provenance("import", "key-1"), dry_run=dry_run)


def meanings(catalogue, name, business="acme"):
    return [one.id for one in catalogue.meanings(business, name)]


class TestEditing:
    def test_a_new_entity_is_found_by_its_aliases_however_they_are_written(self, catalogue):
        catalogue.put_entity("acme", entity("p1", "Morgan Studio", "ＭＳ", "摩根工作室"))
        assert meanings(catalogue, "morgan studio") == meanings(catalogue, "ms") == ["p1"]
        assert catalogue.entity("acme", "p1").origin == "business"

    def test_one_business_does_not_see_what_another_has_added(self, catalogue):
        catalogue.put_entity("acme", entity("p1", "Morgan Studio"))
        assert meanings(catalogue, "Morgan Studio", "other") == []
        with pytest.raises(NotFound):
            catalogue.entity("other", "p1")

    def test_an_alias_of_two_things_stays_ambiguous_until_one_loses_it(self, catalogue):
        catalogue.put_entity("acme", entity("p1", "Morgan Studio", "MS"))
        catalogue.put_entity("acme", entity("p2", "multi-site plan", "MS"))
        assert meanings(catalogue, "MS") == ["p1", "p2"]
        catalogue.delete_alias("acme", "entity", "p2", "ms")
        assert meanings(catalogue, "MS") == ["p1"]

    def test_an_alias_says_where_it_comes_from_and_who_entered_it(self, catalogue):
        catalogue.put_entity("acme", entity("p1", "Morgan Studio", "MS"))
        catalogue.put_alias("acme", "entity", "p1", AliasDefinition("Morgan", "en", "crm", "lee"))
        found = {one.text: (one.source, one.editor) for one in catalogue.entity("acme", "p1").definition.aliases}
        assert found == {"MS": ("api", "key-1"), "Morgan": ("crm", "lee")}

    def test_writing_a_definition_again_keeps_the_source_of_aliases_that_were_there(self, catalogue):
        shipped = catalogue.entity("acme", "E001").definition
        names = [one.text for one in shipped.aliases]
        catalogue.put_entity(
            "acme", entity_of({"id": "E001", "name": "杭州", "type": "city", "aliases": [*names, "杭"]}, BY)
        )
        found = {one.text: one.source for one in catalogue.entity("acme", "E001").definition.aliases}
        assert found == {**dict.fromkeys(names, "shipped"), "杭": "api"}

    def test_a_shipped_topic_can_be_taken_away_and_comes_back_with_a_reset(self, catalogue):
        catalogue.delete_topic("acme", "TRAVEL_GUIDE")
        with pytest.raises(NotFound):
            catalogue.topic("acme", "TRAVEL_GUIDE")
        assert all("TRAVEL_GUIDE" not in ids for ids in catalogue.words("acme").values())
        catalogue.reset("acme")
        assert catalogue.topic("acme", "TRAVEL_GUIDE").origin == "shipped"

    def test_every_shipped_topic_takes_an_alias_and_can_be_put_back_as_it_is_shown(self, catalogue):
        for shown in catalogue.topics("acme"):
            topic = shown.definition
            catalogue.put_alias("acme", "topic", topic.id, AliasDefinition(f"our {topic.id}", "en", "api", "key-1"))
            again = topic_of(definition_body(catalogue.topic("acme", topic.id).definition), BY)
            catalogue.put_topic("acme", again)
            after = catalogue.topic("acme", topic.id).definition
            assert after.rules == topic.rules
            assert f"our {topic.id}" in {alias.text for alias in after.aliases}

    @pytest.mark.parametrize(
        ("query", "meant"),
        [
            ("Notion", True),
            ("notion", True),
            ("what is in Notion?", True),
            ("what did I put in notion?", True),
            ("she had no Notions of it", False),
            ("石墨", True),
            ("打开石墨看看", True),
            ("石墨和金刚石有什么区别", False),
        ],
    )
    def test_an_ordinary_word_that_a_business_enters_is_its_name_where_it_stands_as_entered(
        self, services, query, meant
    ):
        services.catalogue.put_entity("acme", entity("n", "Notion", "notion", kind="software"))
        services.catalogue.put_entity("acme", entity("s", "石墨", kind="software"))
        found = services.resolvers.current("acme").resolve(query, ResolveContext(datetime(2025, 9, 17, tzinfo=UTC)))
        assert bool([one for one in found.entities if one.id in ("n", "s")]) is meant

    def test_rules_are_bounded_one_by_one_and_together(self, catalogue):
        topic = catalogue.topic("acme", "TRAVEL_GUIDE").definition
        for cues in (("x" * 1_001,), ("x" * 1_000,) * 41):
            with pytest.raises(InvalidInput, match=r"rules\.cues must be at most"):
                catalogue.put_topic("acme", replace(topic, rules=replace(topic.rules, cues=cues)))

    def test_a_topic_written_without_rules_keeps_the_ones_it_had(self, catalogue):
        before = catalogue.topic("acme", "TRAVEL_GUIDE").definition.rules
        catalogue.put_topic("acme", topic_of({"id": "TRAVEL_GUIDE", "name": {"en": "city guides"}}, BY))
        after = catalogue.topic("acme", "TRAVEL_GUIDE").definition
        assert (after.rules, after.name) == (before, "city guides")

    def test_what_does_not_exist_cannot_be_deleted(self, catalogue):
        for attempt in (
            lambda: catalogue.delete_entity("acme", "nobody"),
            lambda: catalogue.delete_topic("acme", "NOTHING"),
            lambda: catalogue.delete_alias("acme", "entity", "E001", "Atlantis"),
            lambda: catalogue.put_alias("acme", "topic", "NOTHING", AliasDefinition("x")),
        ):
            with pytest.raises(NotFound):
                attempt()

    def test_two_editors_at_once_both_get_their_change(self, services, tmp_path):
        other = Services(Settings(data_dir=str(tmp_path), embedder="none"))
        services.catalogue.put_entity("acme", entity("p1", "One"))
        other.catalogue.put_entity("acme", entity("p2", "Two"))
        assert meanings(services.catalogue, "Two") == ["p2"]
        assert services.resolvers.current("acme").catalogue.entities.keys() >= {"p1", "p2"}


class TestNamesThatAreSyntax:
    @pytest.mark.parametrize(
        "name", ["type", '"} OR 1', "{}", "{x.__class__}", "a#b", "%", "*", "'; DROP TABLE", "X++"]
    )
    def test_a_name_is_only_a_name(self, catalogue, name):
        catalogue.put_entity("acme", entity("p1", name))
        assert meanings(catalogue, name) == ["p1"]
        assert catalogue.entity("acme", "p1").definition.name == name

    @pytest.mark.parametrize("name", ["", "  ", "\x00", "a\x00b", "a\ud800", "x" * 10_000, "a\nb", "\ufeff"])
    def test_what_cannot_be_a_name_is_refused_with_its_field(self, catalogue, name):
        with pytest.raises(InvalidInput) as refused:
            catalogue.put_entity("acme", entity("p1", name))
        assert refused.value.field == "name"
        with pytest.raises(InvalidInput):
            catalogue.put_entity("acme", entity("p1", "fine", name))

    @pytest.mark.parametrize("row", [
        {"id": "p1", "name": "n"},
        {"id": "p1", "name": "n", "type": ""},
        {"id": "p1", "name": 7, "type": "t"},
        {"id": "p1", "name": "n", "type": "t", "aliases": "n"},
        {"id": "p1", "name": "n", "type": "t", "aliases": [1]},
        {"id": "p1", "name": "n", "type": "t", "surprise": 1},
        {"id": "*", "name": "n", "type": "t"},
        {"id": "x" * 129, "name": "n", "type": "t"},
        {"id": "p1", "name": "n", "type": "t", "aliases": ["a"] * 301},
        "p1",
    ])  # fmt: skip
    def test_a_body_of_another_shape_is_refused(self, catalogue, row):
        with pytest.raises(InvalidInput):
            catalogue.put_entity("acme", entity_of(row, BY))

    @settings(deadline=None, max_examples=40)
    @given(st.text(max_size=MAX_NAME_CHARACTERS), st.text(max_size=130))
    def test_any_name_and_id_are_kept_or_refused_in_our_words(self, tmp_path_factory, name, identifier):
        services = Services(Settings(data_dir=str(tmp_path_factory.getbasetemp() / "any"), embedder="none"))
        business = f"b-{next(COUNTER)}"
        kept = False
        with suppress(EngramError):
            services.catalogue.put_entity(business, entity(identifier, name))
            kept = True
        present = services.resolvers.current(business).catalogue.entities.get(identifier)
        if kept:
            assert present.name == name
            assert identifier in meanings(services.catalogue, name, business)
        else:
            assert present is services.resolvers.default.catalogue.entities.get(identifier)


class TestImport:
    def test_the_shipped_files_load_as_they_are_and_change_nothing(self, catalogue):
        from engram.resolve.lexicon import DATA

        for name, number in (("topics.json", 46), ("entities.json", 161)):
            report = load(catalogue, (DATA / name).read_bytes())
            assert report.applied
            assert report.conflicts == ()
            assert (report.topics.unchanged + report.entities.unchanged) == number
        assert catalogue.entity("acme", "E001").origin == "shipped"

    @pytest.mark.parametrize(
        ("form", "text"),
        [
            ("json", '{"entities": [{"id": "a", "name": "x", "type": "y"}], "entities": []}'),
            ("yaml", "entities:\n- {id: a, name: x, type: y}\nentities:\n- {id: b, name: z, type: y}\n"),
        ],
    )
    def test_a_key_that_stands_twice_is_refused_before_half_of_the_file_is_lost(self, catalogue, form, text):
        with pytest.raises(InvalidInput, match="'entities' twice"):
            load(catalogue, text.encode(), form)

    @pytest.mark.parametrize("header", ["kind,id,name,type", "id,kind,name,type", '"kind","id","name","type"'])
    def test_a_csv_is_known_by_its_columns(self, header):
        assert format_of("application/octet-stream", f"\ufeff{header}\r\n".encode()) == "csv"

    def test_a_dry_run_says_what_would_happen_and_does_nothing(self, catalogue):
        document = {
            "entities": [{"id": "p1", "canonical": "Morgan Studio", "type": "company", "aliases": {"en": ["MS"]}}]
        }
        report = load(catalogue, document, dry_run=True)
        assert (report.entities.added, report.applied) == (1, False)
        assert meanings(catalogue, "MS") == []
        assert load(catalogue, document).applied
        assert meanings(catalogue, "MS") == ["p1"]

    def test_the_same_file_twice_changes_nothing_the_second_time(self, catalogue):
        document = {
            "entities": [{"id": "p1", "canonical": "Morgan Studio", "type": "company", "aliases": {"en": ["MS"]}}]
        }
        first, second = load(catalogue, document), load(catalogue, document)
        assert second.entities.unchanged == 1
        assert second.version == first.version

    def test_a_name_that_becomes_ambiguous_is_listed_and_kept(self, catalogue):
        catalogue.put_entity("acme", entity("p1", "Morgan Studio", "MS"))
        report = load(catalogue, {"entities": [{"id": "p2", "name": "multi-site", "type": "plan", "aliases": ["MS"]}]})
        assert [(one.kind, one.targets) for one in report.conflicts] == [("ambiguous_name", ("p1", "p2"))]
        assert meanings(catalogue, "MS") == ["p1", "p2"]

    def test_a_name_that_the_file_says_is_ambiguous_is_no_conflict(self, catalogue):
        rows = [
            {"id": "p1", "name": "Morgan Studio", "type": "company"},
            {"id": "p2", "name": "multi-site", "type": "plan"},
        ]
        report = load(catalogue, {"entities": rows, "ambiguous_aliases": {"MS": ["Morgan Studio", "p2"]}})
        assert report.conflicts == ()
        assert meanings(catalogue, "MS") == ["p1", "p2"]

    @pytest.mark.parametrize(("document", "kind"), [
        ({"entities": [{"id": "p", "name": "a", "type": "t"}, {"id": "p", "name": "b", "type": "t"}]}, "duplicate_id"),
        ({"ambiguous_heads": {"plan": ["NOTHING"]}}, "unknown_target"),
        ({"ambiguous_aliases": {"MS": ["Nobody"]}}, "unknown_target"),
    ])  # fmt: skip
    def test_a_file_that_contradicts_itself_is_not_applied(self, catalogue, document, kind):
        report = load(catalogue, document)
        assert not report.applied
        assert [one.kind for one in report.conflicts] == [kind]
        assert report.version == 0

    def test_an_id_that_becomes_something_else_is_pointed_out(self, catalogue):
        report = load(catalogue, {"entities": [{"id": "E001", "name": "Foo", "type": "person"}]}, dry_run=True)
        assert [(one.kind, one.id) for one in report.conflicts] == [("replaces", "E001")]

    def test_yaml_and_csv_say_the_same_as_json(self, catalogue):
        as_yaml = "entities:\n- {id: p1, name: 小红书, type: company, aliases: [红薯, RED]}\n".encode()
        as_csv = "kind,id,name,name_en,type,aliases\nentity,p1,小红书,,company,红薯|RED\n".encode()
        assert load(catalogue, as_yaml, "yaml").entities.added == 1
        assert load(catalogue, as_csv, "csv").entities.unchanged == 1

    def test_a_spreadsheet_may_bring_topics_in_two_languages(self, catalogue):
        data = "kind,id,name,name_en,description\ntopic,BEES,养蜂,beekeeping,蜜蜂\n".encode()
        load(catalogue, data, "csv")
        assert dict(catalogue.topic("acme", "BEES").definition.names) == {"zh": "养蜂", "en": "beekeeping"}

    @pytest.mark.parametrize(("data", "form"), [
        (b"{", "json"), (b"[1]", "json"), (b'{"surprise": 1}', "json"), (b"\xff", "json"), (b'{"topics": {}}', "json"),
        (b'{"topics": [{"id": "x"}]}', "json"), (b"a: [", "yaml"), (b"- 1", "yaml"),
        (b"!!python/object:os.system {}", "yaml"), (b"kind,id,name\nentity,1", "csv"), (b"id,name\n1,2", "csv"),
        (b"kind,id,name\nplanet,1,x\n", "csv"), (b"", "csv"),
        (b"[" * 100_000, "json"), (b"[" * 3_000, "yaml"), (b'{"ambiguous_heads": {"a": []}}', "json"),
    ])  # fmt: skip
    def test_a_file_that_cannot_be_read_is_refused_in_our_words(self, catalogue, data, form):
        with pytest.raises(InvalidInput):
            load(catalogue, data, form)

    def test_the_place_of_a_mistake_is_named(self, catalogue):
        with pytest.raises(InvalidInput) as refused:
            load(catalogue, {"topics": [{"id": "A", "name": "a"}, {"id": "B", "name": ""}]})
        assert refused.value.field == "topics[1].name"

    @pytest.mark.parametrize(("content_type", "data", "form"), [
        ("application/json", b"", "json"), ("text/csv; charset=utf-8", b"", "csv"), ("application/x-yaml", b"", "yaml"),
        ("", b'{"topics": []}', "json"), ("", b"kind,id,name\n", "csv"), ("text/plain", b"topics: []", "yaml"),
    ])  # fmt: skip
    def test_the_format_is_what_the_caller_says_or_what_it_looks_like(self, content_type, data, form):
        assert format_of(content_type, data) == form

    def test_thousands_of_entities_are_one_import(self, catalogue):
        rows = [{"id": f"p{n}", "name": f"Project {n}", "type": "project"} for n in range(1_500)]
        assert load(catalogue, {"entities": rows}).entities.added == 1_500
        assert meanings(catalogue, "project 1499") == ["p1499"]
