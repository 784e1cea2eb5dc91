from regard.plots.terminal.beam_tree import TerminalTree
from regard.tasks.translate.search_tree import PartialHypothesis


def small():
    """Two outputs that differ after the first word, one hypothesis without output, one pruned."""
    return (
        PartialHypothesis(0, None, "the", -0.1, -0.1, -0.1, "kept"),
        PartialHypothesis(1, None, "a", -2.0, -2.0, -2.0, "kept"),
        PartialHypothesis(2, 0, "cat", -0.5, -0.6, -0.3, "kept"),
        PartialHypothesis(3, 0, "dog", -0.9, -1.0, -0.5, "kept"),
        PartialHypothesis(4, 1, "cat", -2.0, -4.0, -2.0, "pruned"),
        PartialHypothesis(5, 2, "</s>", -0.3, -0.9, -0.3, "finished"),
        PartialHypothesis(6, 3, "</s>", -0.2, -1.2, -0.4, "finished"),
    )


def test_runs_without_a_choice_are_lines_and_choices_are_branches(plain):
    assert plain(TerminalTree(small())) == [
        "├ the",
        "│ ├ cat </s> ■ score −0.30",
        "│ └ dog </s> ■ score −0.40",
        "└ a ✂ log p −2.00",
    ]


def test_pruned_hypotheses_are_optional(plain):
    assert plain(TerminalTree(small(), pruned=True))[-1] == "└ a cat ✂ log p −4.00"


def test_without_unicode_the_tree_is_ascii(plain):
    lines = plain(TerminalTree(small()), encoding="ascii")
    assert lines[1] == "| |-cat </s> # score -0.30"


def test_the_best_is_bold_and_the_pruned_are_dim(coloured):
    lines = coloured(TerminalTree(small())).splitlines()
    assert "\x1b[1mthe" in lines[0]
    assert "\x1b[1mcat" in lines[1]
    assert "\x1b[1m" not in lines[2]
    assert "\x1b[2ma" in lines[3]


def test_every_kept_word_and_every_end_is_there(grown, plain):
    tree = grown(12, 5, 7)
    lines = plain(TerminalTree([node for step in tree.steps for node in step]), width=400)
    assert sum(line.count("■") for line in lines) == len(tree.finished)
    kept = sum(one.fate != "pruned" for step in tree.steps for one in step)
    words = sum(len(line.split("■")[0].split("✂")[0].replace("│", "").split()) - 1 for line in lines)
    assert words == kept
