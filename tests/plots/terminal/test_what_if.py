import numpy as np

from regard.plots.terminal.heatmap import TerminalWhatIf
from regard.tasks.translate.result import Translation
from regard.tasks.translate.what_if import WhatIf


def translation(text, alpha):
    tokens = tuple(text.split())
    return Translation(
        "ein Hund",
        " ".join(tokens[:-1]),
        ("ein", "Hund", "</s>"),
        tokens,
        -0.5,
        -1.0,
        tuple(-0.001 if k else -0.7 for k in range(len(tokens))),
        None if alpha is None else np.array(alpha),
        (0, 1, None),
        (*range(len(tokens) - 1), None),
    )


BEFORE = translation("a dog </s>", [[0.9, 0.1, 0], [0.2, 0.8, 0], [0, 0, 1]])
AFTER = translation("a </s>", [[0.9, 0.1, 0], [1, 0, 0]])


def test_the_translations_the_steps_and_the_attended_tokens(plain):
    lines = [line.rstrip() for line in plain(TerminalWhatIf(WhatIf(BEFORE, AFTER, {1: 0})), 80)]
    assert lines[:7] == [
        "before  a dog  −0.50",
        "after   a  −0.50",
        "",
        "step  before  log p  attended   after  log p  attended",
        "   0  a       −0.70  ein 0.90   a      −0.70  ein 0.90",
        "   1  dog      0.00  Hund 0.80  </s>    0.00  ein 1.00 ◂",
        "   2  </s>     0.00  </s> 1.00",
    ]
    # the maps are side by side
    assert any(line.count("ein") == 2 for line in lines[8:])


def test_in_a_narrow_terminal_the_maps_are_below_each_other(plain):
    narrow = [line for line in plain(TerminalWhatIf(WhatIf(BEFORE, AFTER, {1: 0})), 30)[8:] if "ein" in line]
    assert len(narrow) >= 2
    assert all(line.count("ein") == 1 for line in narrow)


def test_steps_that_differ_are_bold(coloured):
    lines = coloured(TerminalWhatIf(WhatIf(BEFORE, AFTER, {1: 0}))).splitlines()
    assert "\x1b[1m" not in lines[4]
    assert "\x1b[1m" in lines[5]


def test_without_attention_and_without_letters(plain):
    fixed = translation("a dog </s>", None)
    lines = plain(TerminalWhatIf(WhatIf(fixed, fixed, prefix="a")), 80, "ascii")
    assert lines[0] == "before  a dog  -0.50"
    assert len(lines) == 7
