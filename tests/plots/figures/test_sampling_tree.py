from itertools import pairwise

import pytest
from matplotlib.colors import to_hex

from regard.plots.colours import INK, MUTED
from regard.plots.figures.sampling_tree import Branch, draw_sampling_tree, place_branches


def said(*words, alternatives=2, beyond=2):
    """A path of words, each with alternatives above and below that go on for a step."""
    after = ()
    for k in reversed(range(len(words))):
        others = [
            Branch(f"other{k}{r}", 0.2, after=tuple(Branch(f"later{k}{r}{b}", 0.1) for b in range(beyond)))
            for r in range(alternatives)
        ]
        after = (*others[:1], Branch(words[k], 0.6, taken=True, after=after), *others[1:])
    return Branch("start", after=after)


def everyone(placed):
    return list(placed.walk())


@pytest.mark.parametrize(("words", "alternatives", "beyond"), [(4, 2, 2), (6, 3, 1), (1, 0, 0), (3, 5, 4)])
def test_branches_of_a_column_keep_apart_and_in_their_order(words, alternatives, beyond):
    tree = said(*"abcdef"[:words], alternatives=alternatives, beyond=beyond)
    columns = {}
    for one in everyone(place_branches(tree)):
        columns.setdefault(one.column, []).append(one.row)
    # depth first is from top to bottom within a column, so no two branches cross
    for rows in columns.values():
        assert all(later - earlier >= 1 - 1e-9 for earlier, later in pairwise(rows))


def test_the_sampled_path_is_straight():
    taken = [one for one in everyone(place_branches(said("a", "b", "c"))) if one.branch.taken]
    assert [one.branch.word for one in taken] == ["a", "b", "c"]
    assert {one.row for one in taken} == {0.0}
    assert [one.column for one in taken] == [1, 2, 3]


def test_a_parent_without_a_sampled_branch_is_before_the_middle():
    placed = place_branches(Branch("", after=(Branch("up", 0.5), Branch("down", 0.5))))
    assert [one.row for one in everyone(placed)] == [0.0, -0.5, 0.5]


def test_rows_are_used_again_further_on():
    """Branches that end leave space for later ones: there are fewer rows than ends."""
    places = everyone(place_branches(said(*"abcdefgh")))
    rows = [one.row for one in places]
    ends = sum(not one.after for one in places)
    assert max(rows) - min(rows) + 1 <= 0.8 * ends


def test_words_and_numbers():
    texts = {text.get_text(): text for text in draw_sampling_tree(said("yes"), title="A title").axes[0].texts}
    assert {"A title", "start", "yes", "60", "other00", "20", "later000", "10"} <= set(texts)
    assert (texts["yes"].get_weight(), texts["yes"].get_color()) == ("bold", INK)
    assert (texts["other00"].get_weight(), texts["other00"].get_color()) == ("normal", MUTED)


def test_a_branch_is_as_thick_as_it_is_probable_and_the_sampled_one_black():
    likely, rare = Branch("likely", 0.9), Branch("rare", 0.1, taken=True)
    thick, thin = draw_sampling_tree(Branch("", after=(likely, rare))).axes[0].patches
    sure = draw_sampling_tree(Branch("", after=(Branch("sure", 1.0),))).axes[0].patches[0]
    assert thin.get_linewidth() < thick.get_linewidth() < sure.get_linewidth()
    slope = (thick.get_linewidth() - thin.get_linewidth()) / 0.8
    assert sure.get_linewidth() == pytest.approx(thick.get_linewidth() + 0.1 * slope)
    assert to_hex(thin.get_edgecolor()) == INK
    assert to_hex(thick.get_edgecolor()) != INK


def test_a_branch_leads_from_its_parent_to_its_word():
    axes = draw_sampling_tree(Branch("from", after=(Branch("here", 0.5), Branch("there", 0.5)))).axes[0]
    places = {text.get_text(): text.get_position() for text in axes.texts}
    for patch, word in zip(axes.patches, ("here", "there"), strict=True):
        start, *_, end = patch.get_path().vertices
        assert places["from"][0] < start[0] < end[0] < places[word][0]
        assert 0 < places[word][1] - end[1] < 0.1  # at the middle of its letters
        assert 0 < places["from"][1] - start[1] < 0.1


@pytest.mark.parametrize(
    "tree",
    [said("Hello"), said("one", "</s>"), said("x" * 60, "図書館", "で", "a", "b", "c"), Branch("alone")],
)
def test_nothing_touches_and_nothing_is_cut_off(tree, well_set):
    well_set(draw_sampling_tree(tree, title="A title"))
