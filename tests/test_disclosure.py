"""What a bundle runs, sends and says, before anything of it is believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from msdcomp import decode_manifest
from msdcomp.disclosure import (
    MAX_DECLARED,
    MAX_SURFACES,
    PAYLOAD,
    CommandModule,
    CommandStep,
    ConfigKeyUse,
    Disclosure,
    FileUse,
    Hook,
    OtherSurface,
    Program,
    Resolver,
    ReviewerLane,
    ShellGate,
    compare,
    disclose,
    path_text,
)
from msdcomp.disclosure._hosts import is_local
from tests.bundles import FILES, everything, lane
from tests.documents import changed, feature, http_reviewer, reviewer, runtime

ON = ConfigKeyUse(key="tides.on", type="boolean", default="true")


def _codes(disclosure: Disclosure) -> list[tuple[str, str]]:
    return [(blocker.code, blocker.place) for blocker in disclosure.blockers]


def _lane(document: dict[str, Any], **hosts: str) -> ReviewerLane:
    named = {key.replace("_", "."): value for key, value in hosts.items()}
    (found,) = disclose(document, {}, named).surfaces
    assert isinstance(found, ReviewerLane)
    return found


# Surfaces.


def test_a_bundle_with_everything_shows_everything() -> None:
    document = everything()
    assert decode_manifest(document, "tides").problems == ()
    found = disclose(document, FILES)
    hook, stop, command, resolver, gate, step = found.surfaces

    run = FileUse(path="scripts/run.sh", content_hash="sha512-run")
    assert isinstance(hook, Hook)
    assert (hook.event, hook.script, hook.matcher) == (
        "PostToolUse",
        "scripts/run.sh",
        "Write",
    )
    assert hook.files == (run,)
    assert isinstance(stop, Hook)
    assert stop.matcher is None
    assert stop.files == (run,)
    assert isinstance(command, CommandModule)
    assert (command.family, command.module, command.router, command.subcommands) == (
        "tide",
        "tide-router.cjs",
        "route",
        ("high", "low"),
    )
    assert command.files == (
        FileUse(path="tide-router.cjs", content_hash="sha512-router"),
    )
    assert isinstance(resolver, Resolver)
    assert (resolver.prefix, resolver.binary, resolver.timeout_ms) == (
        "buoy",
        "sh",
        "5000",
    )
    assert resolver.args[2] == "{{id}}"
    assert resolver.files == (run,)
    assert isinstance(gate, ShellGate)
    assert (gate.point, gate.command, gate.when) == (
        "ship:pre",
        "make ${PHASE}",
        "tides.on",
    )
    assert gate.uses == (ON,)
    assert isinstance(step, CommandStep)
    assert (step.point, step.command) == ("plan:post", "tide high")
    assert "fragment" not in step.declared
    assert [use.key for use in step.uses] == ["tides.at"]
    assert found.blockers == ()
    assert found.runs_code
    assert found.activation == ON


def test_instructions_are_named_and_agents_are_not() -> None:
    found = disclose(everything(), FILES)
    said = [
        (word.kind, word.name, word.point, word.path) for word in found.instructions
    ]

    assert said == [
        ("skill", "read-tide", None, None),
        ("contribution", "planner", "plan:pre", None),
        ("step", None, "plan:post", "loop/a.md"),
        ("verdict", None, "plan:pre", None),
    ]
    assert found.instructions[2].content_hash == "sha512-a"
    assert "tide-eye" not in repr(found)


def test_gates_and_keys_are_listed() -> None:
    found = disclose(everything(), FILES)

    assert [(g.point, g.blocking, g.form) for g in found.gates] == [
        ("plan:post", True, "query"),
        ("ship:pre", True, "predicate"),
        ("plan:pre", False, "agentVerdict"),
    ]
    assert found.gates[0].check == "tide.safe"
    assert found.gates[0].when == ON
    assert [use.key for use in found.config] == ["tides.at", "tides.on"]
    assert found.header.author == "Ada"
    assert found.header.requires == ("harbour",)


def test_w1_shell_gates_steps_and_resolvers_run_code() -> None:
    document = everything()
    for field in ("hooks", "commands"):
        del document[field]

    assert [type(one) for one in disclose(document, FILES).surfaces] == [
        Resolver,
        ShellGate,
        CommandStep,
    ]


@pytest.mark.parametrize(
    ("predicate", "runs"),
    [
        ({"kind": "artifact-exists", "artifact": "A.md"}, False),
        ({"kind": "config-equals", "key": "a.b", "value": 1}, False),
        ({"kind": "artifact-frontmatter-equals"}, False),
        ({"kind": "command-exit-zero", "command": "x"}, True),
        ({"kind": "command-exit-zero"}, True),
        ({"kind": "config-equals", "command": "x"}, True),
        ({"kind": "config-equals", "command": ["x"]}, True),
        ({"kind": "brand-new"}, True),
        ({"kind": 5}, True),
        ({}, True),
        ("sh -c x", True),
    ],
)
def test_a_predicate_that_may_run_something_is_a_surface(
    predicate: object, *, runs: bool
) -> None:
    document = changed(feature(), "/gates/0/check", {"predicate": predicate})
    found = disclose(document, {}).surfaces

    assert bool(found) == runs
    if found:
        assert json.loads(found[0].declared)["check"] == {"predicate": predicate}


def test_a_runtime_s_program_is_a_surface() -> None:
    document = runtime()
    document["runtime"]["orchestratorExec"] = {"command": "brig", "args": ["--go"]}
    (found,) = disclose(document, {}).surfaces

    assert isinstance(found, Program)
    assert (found.binary, found.args) == ("brig", ("--go",))
    assert found.place == "/runtime/orchestratorExec"


@pytest.mark.parametrize("field", ["hooks", "commands", "gates", "steps"])
@pytest.mark.parametrize("value", ["sh", {"script": "x"}, 5, False])
def test_what_should_be_a_list_is_shown_raw(field: str, value: object) -> None:
    (found,) = disclose({field: value}, {}).surfaces

    assert isinstance(found, OtherSurface)
    assert json.loads(found.declared) == [field, value]


@pytest.mark.parametrize("field", ["reviewer", "taskContentResolver"])
def test_what_should_be_an_object_is_shown_raw(field: str) -> None:
    (found,) = disclose({field: ["sh"]}, {}).surfaces

    assert isinstance(found, OtherSurface)
    assert disclose({field: None}, {}).surfaces == ()


def test_an_entry_that_is_no_object_is_shown_raw() -> None:
    (found,) = disclose({"hooks": ["x.sh"]}, {}).surfaces

    assert (found.kind, found.place) == ("other", "/hooks/0")


@pytest.mark.parametrize(
    ("servers", "places"),
    [
        ({"a": {"command": "x"}, "b": 5}, ["/mcpServers/a", "/mcpServers/b"]),
        ([{"name": "a"}], ["/mcpServers/0"]),
        ("x", ["/mcpServers"]),
    ],
)
def test_servers_another_host_may_start_are_shown(
    servers: object, places: list[str]
) -> None:
    found = disclose(feature(mcpServers=servers), {}).surfaces

    assert [one.place for one in found] == places


# Lanes.


def test_a_lane_shows_every_field_of_its_invocation() -> None:
    document = lane(
        env={"LANG": "C", "path": "/x", "Node_Options": "-r x"},
        args=["-c", "a b"],
        brandNew={"x": [1]},
    )
    document["reviewer"] |= {"requiresBinaries": ["jq"], "another": True}
    document["reviewer"]["probe"] = {
        "kind": "command-capability",
        "binary": "gull",
        "needle": "--x",
        "timeoutMs": 5,
    }
    found = _lane(document)

    assert (found.slug, found.transport, found.binary) == ("gull", "spawn", "gull")
    assert found.args == ("-c", "a b")
    assert [(p.name, p.denied) for p in found.env] == [
        ("LANG", False),
        ("Node_Options", True),
        ("path", True),
    ]
    assert found.probe == ("command-capability", "gull")
    assert found.requires_binaries == ("jq",)
    residual = dict(found.residual)
    assert residual["invoke.brandNew"] == '{"x":[1]}'
    assert residual["another"] == "true"
    assert residual["probe.needle"] == '"--x"'
    assert residual["invoke.promptChannel"] == '"stdin"'
    assert "invoke.args" not in residual
    assert found.egress.payload == PAYLOAD
    assert found.starts_program


@pytest.mark.parametrize(
    ("field", "value"),
    [("args", ["a", 5]), ("args", "a"), ("env", {"A": 1}), ("env", []), ("binary", 1)],
)
def test_a_field_of_the_wrong_type_is_shown_raw(field: str, value: object) -> None:
    found = _lane(lane(**{field: value}))

    assert json.loads(dict(found.residual)[f"invoke.{field}"]) == value


def test_w5_a_lane_says_where_it_sends_to() -> None:
    document = http_reviewer()
    assert _lane(document).egress.host is None
    assert not _lane(document).starts_program
    document["reviewer"]["invoke"]["defaultHost"] = "http://localhost:1"
    assert _lane(document).egress.host == "http://localhost:1"
    assert _lane(document).egress.is_local
    slice_ = {"type": "string", "default": "http://a.example", "description": "x"}
    document["config"] = {"review.host": slice_}
    found = _lane(document)
    assert found.egress.host == "http://a.example"
    assert not found.egress.is_local
    assert [use.key for use in found.uses] == ["review.host"]
    found = _lane(document, review_host="http://b.example")
    assert found.egress.host == found.egress.configured_host == "http://b.example"


def test_an_endpoint_with_a_program_behind_it_starts_one() -> None:
    document = changed(http_reviewer(), "/reviewer/probe/kind", "command-exists")

    assert _lane(document).starts_program


def test_a_lane_that_takes_no_prompt_is_sent_none() -> None:
    assert _lane(lane(promptChannel="none")).egress.payload == ()


@pytest.mark.parametrize(
    "address",
    [
        "localhost",
        "LOCALHOST.",
        "http://localhost:8080/v1?x",
        "https://127.0.0.1",
        "127.1",
        "127.255.255.254",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",  # noqa: S104 - an address to judge, not to listen at
        "0",
        "[::1]",
        "http://[::1]:80/x",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[0000::0001]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:ffff:127.1]",
    ],
)
def test_this_machine_is_known_in_every_spelling(address: str) -> None:
    assert is_local(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "example.org",
        "http://localhost@example.org",
        "http://localhost:80@example.org/",
        "http://example.org#@localhost",
        "http://example.org\\@localhost",
        "http://localhost.example.org",
        "http://127.0.0.1.example.org",
        "http://localhost example.org",
        "localhost\n.example.org",
        "ftp://localhost",
        "128.0.0.1",
        "127.0.0.256",
        "127.0.0.0.1",
        "127.16777216",
        "089",
        "1.2.3.4",
        "[::2]",
        "[1::]",
        "[1::1]",
        "[::1:1]",
        "[0:0:0:0:0:0:1]",
        "[0:0:0:0:0:0:0:0:1]",
        "[::1::1]",
        "[:::1]",
        "[::ffff:1.2.3.4]",
        "[fe80::1]",
        "[::12345]",
        "localhоst",  # noqa: RUF001 - a Cyrillic letter
    ],
)
def test_nothing_else_is_taken_for_this_machine(address: str) -> None:
    assert not is_local(address)


# Blockers.


def test_declared_files_that_are_not_there_block() -> None:
    files = dict.fromkeys(["README.md", "capability.json"], "x")
    document = everything()
    document["hooks"].append({"event": "x"})

    assert _codes(disclose(document, files)) == [
        ("missing-file", "/hooks/0/script"),
        ("missing-file", "/hooks/1/script"),
        ("missing-file", "/hooks/2/script"),
        ("missing-file", "/commands/0/module"),
        ("missing-file", "/steps/1/fragment/path"),
    ]


@pytest.mark.parametrize("script", ["../x.sh", "/x.sh", "a;b", "-x", "", "x/"])
def test_a_script_that_leads_elsewhere_blocks(script: str) -> None:
    document = feature(hooks=[{"event": "x", "script": script}])

    assert _codes(disclose(document, {script: "y"})) == [
        ("unsafe-path", "/hooks/0/script")
    ]


@pytest.mark.parametrize("module", ["../x.cjs", "/x.cjs", "x.cjs/"])
def test_a_module_is_looked_for_in_the_bundle_alone(module: str) -> None:
    document = feature(commands=[{"family": "a", "module": module, "router": "r"}])

    assert _codes(disclose(document, {"x.cjs": "y"})) == [
        ("missing-file", "/commands/0/module")
    ]


def test_more_than_anybody_reads_blocks() -> None:
    many = feature(steps=[{"ref": {"command": "x"}}] * (MAX_SURFACES + 1))
    long = lane(args=["x" * MAX_DECLARED])

    assert _codes(disclose(many, {})) == [("too-much", "")]
    assert _codes(disclose(long, {})) == [("too-much", "")]
    assert len(disclose(many, {}).surfaces) == MAX_SURFACES + 1
    slice_ = {"type": "string", "default": "x" * MAX_DECLARED}
    keyed = {**http_reviewer(), "config": {"review.host": slice_}}
    assert _codes(disclose(keyed, {})) == [("too-much", "")]
    switched = {**lane(), "config": {"a": slice_}, "activationKey": "a"}
    assert _codes(disclose(switched, {})) == [("too-much", "")]


@pytest.mark.parametrize(
    "document",
    [b"", b"{", b"[]", "null", 5, None, ["x"], b"\xff", '{"hooks":' + "[" * 100_000],
)
def test_what_is_no_manifest_blocks(document: object) -> None:
    assert _codes(disclose(document, {}))[-1] == ("not-a-manifest", "")


def test_nothing_hides_behind_a_repeated_key() -> None:
    text = """{
        "hooks": [{"event": "a", "script": "a", "script": "b"}],
        "hooks": [{"event": "b", "script": "b"}],
        "gates": [{"x": {"y": [1]}}]
    }"""
    found = disclose(text, {})

    assert [one.place for one in found.surfaces] == ["/hooks/0", "/hooks/1"]
    assert '["a","b"]' in found.surfaces[0].declared
    assert {code for code, _ in _codes(found)} >= {"duplicate-key"}


def test_every_form_of_a_document_gives_the_same() -> None:
    document = everything()
    manifest = decode_manifest(document, "tides").manifest
    text = json.dumps(document)
    first, *others = [
        disclose(form, FILES) for form in (document, text, text.encode(), manifest)
    ]

    assert all(other == first for other in others)


# Files.


def test_where_something_is_started_every_file_is_code() -> None:
    found = disclose(everything(), FILES)

    assert dict(found.code_files) == {
        path: hash_ for path, hash_ in FILES.items() if path != "capability.json"
    }
    assert [path for path, _ in found.text_files] == [
        "loop/a.md",
        "skills/read-tide/SKILL.md",
    ]


@pytest.mark.parametrize("document", [feature(), http_reviewer()])
def test_where_nothing_is_started_every_file_is_text(document: dict[str, Any]) -> None:
    found = disclose(document, FILES)

    assert found.code_files == ()
    assert len(found.text_files) == len(FILES) - 1


def test_paths_that_are_not_text_stay_apart() -> None:
    paths = [b"a", b"\xff", b"\\xff", b"\\\\xff", "é".encode(), b"\xc3"]

    assert len({path_text(path) for path in paths}) == len(paths)
    assert path_text("é".encode()) == "é"


# Changes.


def test_nothing_is_new_against_the_same() -> None:
    found = disclose(everything(), FILES)
    same = everything()
    same["hooks"].reverse()
    changes = compare(found, disclose(same, FILES))

    assert not changes.code
    assert not changes.text


def test_an_edited_declaration_is_gone_and_new() -> None:
    old = disclose(everything(), FILES)
    new = disclose(changed(everything(), "/hooks/0/matcher", ".*"), FILES)
    changes = compare(old, new)

    assert [one.place for one in changes.added] == ["/hooks/0"]
    assert [one.place for one in changes.removed] == ["/hooks/0"]
    assert changes.code
    assert not changes.text


def test_a_repeated_declaration_counts() -> None:
    document = everything()
    document["hooks"].append(document["hooks"][0])
    changes = compare(disclose(everything(), FILES), disclose(document, FILES))

    assert [one.place for one in changes.added] == ["/hooks/2"]


def test_changed_files_say_whether_they_may_run() -> None:
    old = disclose(everything(), FILES)
    files = {**FILES, "scripts/run.sh": "other", "new.sh": "x"}
    del files["README.md"]
    changes = compare(old, disclose(everything(), files))

    assert [(f.path, f.how, f.code) for f in changes.files] == [
        ("README.md", "removed", True),
        ("new.sh", "added", True),
        ("scripts/run.sh", "changed", True),
    ]
    assert changes.code
    text = compare(disclose(feature(), FILES), disclose(feature(), files))
    assert not text.code
    assert text.text


def test_gates_keys_and_words_are_compared() -> None:
    document = changed(everything(), "/gates/0/blocking", value=False)
    document = changed(document, "/config/tides.at/default", "plan:post")
    document = changed(document, "/contributions/0/fragment/inline", "Other.")
    changes = compare(disclose(everything(), FILES), disclose(document, FILES))

    assert [gate.blocking for gate in changes.gates_added] == [False]
    assert [gate.blocking for gate in changes.gates_removed] == [True]
    assert [use.key for use in changes.config_added] == ["tides.at"]
    assert [word.kind for word in changes.instructions_removed] == ["contribution"]
    assert changes.text
    # The key decides where a command runs.
    assert [one.kind for one in changes.added] == ["command-step"]


def test_a_switch_counts_where_something_runs() -> None:
    flipped = changed(everything(), "/config/tides.on/default", value=False)
    assert compare(disclose(everything(), FILES), disclose(flipped, FILES)).activation
    quiet = feature(activationKey="tides.on")
    off = changed(quiet, "/config/tides.on/default", value=False)
    assert not compare(disclose(quiet, {}), disclose(off, {})).activation


def test_a_reviewer_without_anything_is_still_a_lane() -> None:
    document = reviewer()
    document["reviewer"] = {}

    assert _lane(document).binary is None
