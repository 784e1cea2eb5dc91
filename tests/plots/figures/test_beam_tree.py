from itertools import pairwise

import pytest
from matplotlib.patches import PathPatch

from regard.plots.beam_tree import BeamTree, layout
from regard.plots.colours import INK, MUTED
from regard.plots.figures.beam_tree import draw_beam_tree

sizes = pytest.mark.parametrize(
    ("steps", "width", "seed"), [(1, 1, 0), (6, 5, 1), (20, 5, 2), (8, 12, 3), (12, 2, 4)]
)


def nodes_of(tree):
    return [node for step in tree.steps for node in step]


def place_nodes(tree, width_of, *, pruned=True):
    return layout(BeamTree(nodes_of(tree)), width_of, gap=0.14, lean=0.3, pruned=pruned)


def rows_of(places):
    """Pairs of node id and position, row by row from left to right."""
    rows = {}
    for node_id, place in places.items():
        rows.setdefault(place.row, []).append((node_id, place))
    return [sorted(row, key=lambda pair: pair[1].left) for _, row in sorted(rows.items())]


def drawn(tree, **options):
    attended = [token for node in tree.best if (token := tree.attended_token(node)) is not None]
    return draw_beam_tree(nodes_of(tree), attended=attended, **options)


@sizes
def test_no_nodes_touch_and_no_branches_cross(grown, steps, width, seed):
    tree = grown(steps, width, seed)
    places = place_nodes(tree, lambda one: 0.1 + 0.05 * len(one.token))
    assert set(places) == {one.id for step in tree.steps for one in step}
    nodes = {node.id: node for node in nodes_of(tree)}
    for row in rows_of(places):
        assert all(one.left + one.width < other.left for (_, one), (_, other) in pairwise(row))
        in_order = [nodes[node_id] for node_id, _ in row]
        kept = [node for node in in_order if node.fate != "pruned"]
        pruned = [node for node in in_order if node.fate == "pruned"]
        assert in_order == [*kept, *pruned]
        for ones in (kept, pruned):
            origins = [places[one.parent].left for one in ones if one.parent is not None]
            assert origins == sorted(origins)


@sizes
def test_the_best_output_runs_straight_down_the_left(grown, steps, width, seed):
    tree = grown(steps, width, seed)
    places = place_nodes(tree, lambda one: 0.3)
    assert {places[one.id].left for one in tree.best} == {0.0}
    assert [places[one.id].row for one in tree.best] == list(range(len(tree.best)))


def test_rows_are_as_wide_as_they_must_be(grown):
    """A finished branch leaves its space to others: twenty steps are hardly wider than the widest of them."""
    tree = grown(20, 5, 2)
    places = place_nodes(tree, lambda one: 0.5)
    widest = max(len(step) for step in tree.steps) * (0.5 + 0.14)
    assert max(place.left + place.width for place in places.values()) < 1.3 * widest


def test_without_the_pruned_the_rest_keeps_its_place(grown):
    tree = grown()
    without = place_nodes(tree, lambda one: 0.5, pruned=False)
    assert set(without) == {one.id for step in tree.steps for one in step if one.fate != "pruned"}


@sizes
def test_all_words_are_legible(grown, well_set, steps, width, seed):
    well_set(drawn(grown(steps, width, seed), title="a title"))


def test_words_numbers_and_attended_tokens(grown):
    tree = grown(seed=1)
    texts = [text.get_text() for text in drawn(tree).axes[0].texts]
    written = list(pairwise(texts))
    for row, step in enumerate(tree.steps):
        for one in step:
            value = f"score {one.score:.2f}" if one.fate == "finished" else f"{one.total:.2f}"
            assert (one.token, value.replace("-", "−")) in written, row
    for row, one in enumerate(tree.best):
        assert (str(row), tree.attended_token(one)) in written


def test_the_best_is_bold_and_thicker_branches_are_more_probable(grown):
    tree = grown(seed=1)
    figure = drawn(tree)
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


def test_hypotheses_without_output_are_grey(grown):
    tree = grown(seed=1)
    found = {one.id for end in tree.finished for one in tree.path_to(end)}
    lost = [one for step in tree.steps for one in step if one.fate == "kept" and one.id not in found]
    assert lost
    words = [text for text in drawn(tree, pruned=False).axes[0].texts if text.get_size() == 10]
    assert sum(text.get_color() == MUTED for text in words) == len(lost)
    assert sum(text.get_color() == INK for text in words) == len(found)


def test_a_search_without_output_is_drawn_too(grown):
    tree = grown()
    assert BeamTree(tree.steps[0]).best == ()
    draw_beam_tree(tree.steps[0]).canvas.draw()


def test_equal_trees_make_equal_files(grown, tmp_path):
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    grown().plot(one)
    grown().plot(other)
    assert one.read_bytes() == other.read_bytes()
    assert grown().translation.source.split()[0] in one.read_text(encoding="utf-8")


@sizes
def test_the_tree_of_the_nodes_is_the_search_tree(grown, steps, width, seed):
    tree = grown(steps, width, seed)
    of_nodes = BeamTree(nodes_of(tree))
    assert of_nodes.best == tree.best
    assert of_nodes.in_output == {node.id for end in tree.finished for node in tree.path_to(end)}
