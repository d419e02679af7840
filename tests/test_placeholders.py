"""Values in a command: never read as code, and never left unexpanded unnoticed."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from msdcomp.placeholders import PLACEHOLDERS, is_plain, reads_again, unexpanded
from tests.strategies import texts

#: What quotes, opens, closes and comments. No redirection and no name that could become
#: a program or a function, so that a shell has nothing to do but to expand.
NOISE = st.sampled_from(
    [
        *("'", '"', "\\", "$", "`", "(", ")", "}", "#", " ", "\n", ";", "$(", "${"),
        *("${x:-", "$((", "))", "1", "$'", "<<E\n", "\nE\n", " # it's\n", ";; esac"),
        *("\\\n", "${x#", "${x%%", "\\ ", "#'", '#"', "< ", "(true)", "`true`"),
    ]
)
VALUE = "${PHASE_DIR}"

#: Mostly whole words, each in any quotes, some of them around others.
WORDS = st.recursive(
    st.sampled_from([VALUE, f" {VALUE} ", "1", " ", "'1'", f"'{VALUE}'", f"\\{VALUE}"])
    | NOISE,
    lambda inner: st.builds(
        lambda around, words: around.replace("@", "".join(words)),
        st.sampled_from(['"@"', "$(printf %s @)", "`printf %s @`", "${x:-@}", "@\n"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)


@given(WORDS, st.lists(WORDS, max_size=3).map("".join))
@settings(max_examples=200)
def test_where_no_reason_is_given_a_shell_leaves_no_placeholder(
    word: str, more: str
) -> None:
    command = f"printf '%s\\n' {VALUE}{word}{more}"
    if unexpanded(command) is not None:
        return

    ran = subprocess.run(
        ["/bin/sh", "-c", "--", command],
        env={"PATH": "/nowhere", "PHASE_DIR": "there"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert VALUE not in ran.stdout


@given(texts | st.lists(WORDS, max_size=9).map("".join))
def test_any_text_is_judged(command: str) -> None:
    assert unexpanded(command) is None or "${PHASE_" in command
    assert not reads_again(command) or any(name in command for name in PLACEHOLDERS)


@given(texts)
def test_a_command_without_a_value_is_no_concern(text: str) -> None:
    assume("PHASE_" not in text)

    assert unexpanded(f"eval '{text}'; echo $((1)) <<E") is None
    assert not reads_again(f"eval '{text}'; echo $((1)) <<E")


@pytest.mark.parametrize(
    "command",
    [
        "test -e ${PHASE_DIR}/PLAN.md",
        'test -e "${PHASE_DIR}/PLAN.md"',
        'test -e "a\'s ${PHASE_DIR}"',
        "grep -q 'status: done' \"${PHASE_DIR}/a\" && grep -q 'y' ${PHASE_DIR}/b",
        'echo "$(cat "${PHASE_DIR}/x")"',
        "echo `cat ${PHASE_DIR}/x`",
        "(cd ${PHASE_DIR} && make) # don't",
        "# isn't\ntest ${PHASE_NUMBER} -gt 2",
        "echo ${PHASE_DIR:-'none'} ${#PHASE_DIR} $# '$HOME'",
        "case ${PHASE_NUMBER} in 1) true;; *) false;; esac",
        'echo "${x:-${PHASE_DIR}}" $(( ${PHASE_NUMBER} + 1 ))',
        'f() { echo "\\"${PHASE_DIR}"; }; f',
        "test -e ${PHASE_DIR}/a && \\\n  test -e '/b' # isn't\n",
    ],
)
def test_commands_that_people_write_are_understood(command: str) -> None:
    assert unexpanded(command) is None


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("test ! -e '${PHASE_DIR}/BLOCKED'", "single quotes"),
        ("echo \"$(echo '${PHASE_DIR}')\"", "single quotes"),
        ("echo \\${PHASE_DIR}", "backslash"),
        ('echo "\\${PHASE_DIR}"', "backslash"),
        ("cat <<'E'\n${PHASE_DIR}\nE", "here-document"),
        ("cat <<E\n${PHASE_DIR}\nE", "here-document"),
        ("echo $'${PHASE_DIR}'", "cannot be followed"),
        ("echo ${PHASE_DIR} 'never closed", "cannot be followed"),
        ('echo ${PHASE_DIR} "never closed', "cannot be followed"),
        ("echo ${PHASE_DIR} $(never closed", "cannot be followed"),
        ("echo $(case a in a) echo ${PHASE_DIR};; esac)", "cannot be followed"),
        ("echo `echo \\`echo ${PHASE_DIR}\\``", "cannot be followed"),
        ('echo "${x:-"${PHASE_DIR}"}"', "cannot be followed"),
        ("echo `( ` ${PHASE_DIR}", "cannot be followed"),
        ("echo ${x:-)} ${PHASE_DIR}", "cannot be followed"),
        ("echo $(true # ${PHASE_DIR}\n)", "cannot be followed"),
        ('echo "`( "`${PHASE_DIR}', "cannot be followed"),
        ("(ls)# \"\necho '${PHASE_DIR}' # \"", "cannot be followed"),
        ("echo `ls`#'\n${PHASE_DIR}\n`ls`#'", "cannot be followed"),
        ("echo \\ #'\n${PHASE_DIR}\n\\ #'", "cannot be followed"),
        ("echo a\\\n#'\n${PHASE_DIR}\na\\\n#'", "cannot be followed"),
        ("echo \"$\\\n(echo '${PHASE_DIR}')\"", "cannot be followed"),
        ("cat <\\\n<'E'\n${PHASE_DIR}\nE\n", "cannot be followed"),
        ("\"$(ca\\\nse a in a) echo '${PHASE_DIR}';; esac)\"", "cannot be followed"),
        ("echo \"${x#'${PHASE_DIR}'}\"", "cannot be followed"),
    ],
)
def test_what_a_shell_would_not_expand_is_named(command: str, reason: str) -> None:
    assert reason in str(unexpanded(command))


@pytest.mark.parametrize(
    ("command", "again"),
    [
        ("test $((PHASE_NUMBER + 1)) -gt 2", True),
        ("[[ $PHASE_NUMBER -gt 2 ]]", True),
        ('eval "ls ${PHASE_DIR}"', True),
        ('bash -c "ls ${PHASE_DIR}"', True),
        ('sh -ec "ls ${PHASE_DIR}"', True),
        ('python3 -c "print(${PHASE_NUMBER})"', True),
        ('perl --eval "${PHASE_NUMBER}"', True),
        ('echo "ls ${PHASE_DIR}" | sh', True),
        ("echo ${PHASE_DIR} | xargs ls", True),
        ("echo ${!PHASE_DIR}", True),
        ("echo ${a[${PHASE_NUMBER}]}", True),
        ("x=${PHASE_NUMBER}; let y=x", True),
        ('sed -n "/${PHASE_NUMBER}/p" STATE.md', True),
        ('make check PHASE="${PHASE_NUMBER}"', True),
        ('echo "${PHASE_NUMBER} > 2" | bc', True),
        ('echo "${PHASE_DIR}" | env bash', True),
        ('echo "${PHASE_DIR}" | python3', True),
        ('echo "${PHASE_DIR}" | . /dev/stdin', True),
        ('bash <(echo "${PHASE_DIR}")', True),
        ('node -p "${PHASE_NUMBER}"', True),
        ('test -e "${PHASE_DIR}/PLAN.md"', False),
        ('grep -c done "${PHASE_DIR}/PLAN.md"', False),
        ('sh scripts/check.sh "${PHASE_DIR}"', False),
        ('ls . "${PHASE_DIR}"', False),
        ('cat "${PHASE_DIR}/a.md" | grep -q done', False),
        ("eval ls", False),
    ],
)
def test_what_reads_a_value_as_code_is_known(command: str, again: bool) -> None:
    assert reads_again(command) is again


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("", True),
        (".planning/phases/03-sea wall", True),
        ("REQ-1,REQ-2", True),
        ("a\n", False),
        ("a[$(touch x)]", False),
        ("`x`", False),
        ("a'b", False),
        ("a;b", False),
        ("\N{LATIN SMALL LETTER E WITH ACUTE}", False),
    ],
)
def test_a_value_is_plain_when_nothing_in_it_means_anything(
    value: str, plain: bool
) -> None:
    assert is_plain(value) is plain


def test_a_long_command_is_followed_in_one_walk() -> None:
    # Four thousand are the most; with a look back at each step this would not end.
    assert unexpanded('"$(' * 50_000 + "${PHASE_DIR}") is not None
    assert os.sep not in str(unexpanded("'" * 100_000 + "${PHASE_DIR}"))
