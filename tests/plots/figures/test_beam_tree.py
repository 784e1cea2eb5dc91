from itertools import pairwise

import pytest
from matplotlib.patches import PathPatch

from regard.plots.figures.beam_tree import draw_beam_tree, place_beginnings
from regard.plots.style import INK, SOFT
from regard.tasks.translate.search_tree import SearchTree

sizes = pytest.mark.parametrize(
    ("steps", "width", "seed"), [(1, 1, 0), (6, 5, 1), (20, 5, 2), (8, 12, 3), (12, 2, 4)]
)


def rows_of(places):
    rows = {}
    for place in places.values():
        rows.setdefault(place.row, []).append(place)
    return [sorted(row, key=lambda place: place.left) for _, row in sorted(rows.items())]


@sizes
def test_nobody_touches_and_no_branches_cross(grown, steps, width, seed):
    tree = grown(steps, width, seed)
    places = place_beginnings(tree, lambda one: 0.1 + 0.05 * len(one.token))
    assert set(places) == {one.id for step in tree.steps for one in step}
    for row in rows_of(places):
        assert all(one.left + one.width < other.left for one, other in pairwise(row))
        kept = [place.one for place in row if place.one.fate != "pruned"]
        pruned = [place.one for place in row if place.one.fate == "pruned"]
        assert [place.one for place in row] == [*kept, *pruned]
        for ones in (kept, pruned):
            origins = [places[one.parent].left for one in ones if one.parent is not None]
            assert origins == sorted(origins)


@sizes
def test_the_best_output_runs_straight_down_the_left(grown, steps, width, seed):
    tree = grown(steps, width, seed)
    places = place_beginnings(tree, lambda one: 0.3)
    assert {places[one.id].left for one in tree.best} == {0.0}
    assert [places[one.id].row for one in tree.best] == list(range(len(tree.best)))


def test_rows_are_as_wide_as_they_must_be(grown):
    """What ends leaves its room to others: twenty steps are hardly wider than the widest of them."""
    tree = grown(20, 5, 2)
    places = place_beginnings(tree, lambda one: 0.5)
    widest = max(len(step) for step in tree.steps) * (0.5 + 0.14)
    assert max(place.left + place.width for place in places.values()) < 1.3 * widest


def test_without_the_pruned_the_rest_stands_as_before(grown):
    tree = grown()
    without = place_beginnings(tree, lambda one: 0.5, pruned=False)
    assert set(without) == {one.id for step in tree.steps for one in step if one.fate != "pruned"}


@sizes
def test_all_words_are_legible(grown, well_set, steps, width, seed):
    well_set(draw_beam_tree(grown(steps, width, seed), title="a title"))


def test_words_numbers_and_what_was_looked_at(grown):
    tree = grown(seed=1)
    texts = [text.get_text() for text in draw_beam_tree(tree).axes[0].texts]
    written = list(pairwise(texts))
    for row, step in enumerate(tree.steps):
        for one in step:
            value = one.score if one.fate == "finished" else one.total
            assert (one.token, f"{value:.2f}".replace("-", "−")) in written, row
    for row, one in enumerate(tree.best):
        assert (str(row), tree.looked_at(one)) in written


def test_the_best_is_bold_and_thickest_branches_are_likeliest(grown):
    tree = grown(seed=1)
    figure = draw_beam_tree(tree)
    bold = [text.get_text() for text in figure.axes[0].texts if text.get_weight() == "bold"]
    assert bold == [one.token for one in tree.best]
    branches = [patch for patch in figure.axes[0].patches if isinstance(patch, PathPatch)]
    everyone = {one.id: one for step in tree.steps[1:] for one in step}
    assert len(branches) == len(everyone)
    widths = sorted(patch.get_linewidth() for patch in branches)
    likely = sorted(one.log_prob for one in everyone.values())
    assert (widths[0], widths[-1]) == pytest.approx(
        [0.4 + 2.4 * 2.718281828**lp for lp in (likely[0], likely[-1])]
    )


def test_what_was_lost_is_grey(grown):
    tree = grown(seed=1)
    found = {one.id for end in tree.finished for one in tree.way_to(end)}
    lost = [one for step in tree.steps for one in step if one.fate == "kept" and one.id not in found]
    assert lost
    words = [text for text in draw_beam_tree(tree, pruned=False).axes[0].texts if text.get_size() == 10]
    assert sum(text.get_color() == SOFT for text in words) == len(lost)
    assert sum(text.get_color() == INK for text in words) == len(found)


def test_a_search_that_found_nothing_is_drawn_too(grown):
    tree = grown()
    cut = SearchTree(tree.translation, tree.steps[:1])
    assert cut.best == ()
    draw_beam_tree(cut).canvas.draw()


def test_equal_trees_make_equal_files(grown, tmp_path):
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    grown().plot(one)
    grown().plot(other)
    assert one.read_bytes() == other.read_bytes()
    assert grown().translation.source.split()[0] in one.read_text(encoding="utf-8")
