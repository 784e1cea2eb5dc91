"""Attentions built from the names of their parts: what is carried from step to step, several heads, what is refused."""

import pytest
import torch

from regard.errors import ConfigError
from regard.layers import ENERGIES, Additive, Bilinear, LocalM, LocalP, QueryKeyValue, build_attention
from regard.ops.attention import covered_energies, masked_softmax, nearness, query_key_value, sparsemax
from regard.ops.attention.query_key_value import naive

MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
B, TY, TX, D = 2, 4, 5, 4
SEEDED = torch.Generator().manual_seed(1)
QUERY = torch.randn(B, TY, D, dtype=torch.float64, generator=SEEDED)
ANNOTATIONS = torch.randn(B, TX, D, dtype=torch.float64, generator=SEEDED)
OPTIONS = {
    "local-m": {"window": "local-m", "window_size": 1},
    "local-p": {"window": "local-p", "window_size": 2, "normalizer": "sparsemax"},
    "coverage": {"coverage": True},
    "both": {"coverage": True, "window": "local-m", "window_size": 1},
    "heads": {"energy": "qkv", "heads": 2, "window": "local-p", "window_size": 1},
}
every_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())


def made(energy="additive", **options):
    layer = build_attention(energy, D, D, 6, **options).double()
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return layer, layer.keys(ANNOTATIONS), layer.values(ANNOTATIONS)


@every_option
def test_all_steps_are_each_step_in_turn(options):
    layer, keys, values = made(**options)
    whole = layer.attend_sequence(QUERY, keys, values, MASK)
    carried = layer.initial_state(MASK)
    for t in range(TY):
        context, alpha, carried = layer.attend(QUERY[:, t : t + 1], keys, values, MASK, carried)
        torch.testing.assert_close(alpha[:, 0], whole.alpha[:, t])
        torch.testing.assert_close(context[:, 0], whole.context[:, t])
    assert [part.shape[0] for part in carried] == [B] * len(layer.initial_state(MASK))


@every_option
def test_hypotheses_side_by_side_are_each_alone(options):
    """The rows of a sentence are consecutive, each with its own attention state."""
    layer, keys, values = made(**options)
    rows = torch.arange(B).repeat_interleave(TY)
    carried = tuple(part[rows] for part in layer.initial_state(MASK))
    for _ in range(2):
        before = carried
        context, alpha, carried = layer.attend(QUERY, keys, values, MASK, before)
        for r, b in enumerate(rows.tolist()):
            one = slice(b, b + 1)
            alone = layer.attend(
                QUERY.view(B * TY, 1, D)[r : r + 1],
                keys[one],
                values[one],
                MASK[one],
                tuple(part[r : r + 1] for part in before),
            )
            torch.testing.assert_close(alone.alpha[0, 0], alpha.flatten(0, 1)[r])
            torch.testing.assert_close(alone.context[0, 0], context.flatten(0, 1)[r])
            torch.testing.assert_close(alone.state, tuple(part[r : r + 1] for part in carried))


def test_without_a_state_it_is_the_first_step():
    layer, keys, values = made(coverage=True, window="local-m", window_size=1)
    first = layer.attend(QUERY[:, :1], keys, values, MASK, layer.initial_state(MASK))
    torch.testing.assert_close(layer.attend(QUERY[:, :1], keys, values, MASK), first)
    assert layer.attend(QUERY, keys, values, MASK).alpha.shape == (B, TY, TX)


def test_local_m_counts_steps():
    layer, keys, values = made("dot", window="local-m", window_size=1)
    alpha = layer.attend_sequence(QUERY, keys, values, MASK).alpha
    assert [(row > 0).nonzero().flatten().tolist() for row in alpha[0]] == [
        [0, 1],
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
    ]
    assert [(row > 0).nonzero().flatten().tolist() for row in alpha[1]] == [[0, 1], [0, 1, 2], [1, 2], [2]]
    assert not layer.sequential


def test_local_p_weighs_by_nearness_and_does_not_normalise_again():
    layer, keys, values = made("dot", window="local-p", window_size=1)
    alpha = layer.attend_sequence(QUERY, keys, values, MASK).alpha
    positions = layer.window.positions(QUERY, MASK, None)
    numbers = torch.arange(1, TX + 1)
    for b in range(B):
        for i in range(TY):
            inside = ((numbers - positions[b, i]).abs() <= 1) & MASK[b]
            aligned = masked_softmax(layer.energies(QUERY, keys)[b, i].view(1, 1, -1), inside.unsqueeze(0))
            expected = aligned[0, 0] * nearness(positions, MASK, 1)[b, i]
            torch.testing.assert_close(alpha[b, i], expected)
    assert (alpha.sum(-1) < 1).all()


@pytest.mark.parametrize("energy", ["additive", "concat"])
def test_coverage_is_the_sum_of_the_alphas_before(energy):
    layer, keys, values = made(energy, coverage=True)
    assert layer.sequential
    alpha = layer.attend_sequence(QUERY, keys, values, MASK).alpha
    covered = torch.zeros(B, TX, dtype=torch.float64)
    if energy == "additive":
        q = QUERY @ layer.W_a.T
    else:
        q = QUERY @ layer.W_a[:, :D].T
        torch.testing.assert_close(keys, ANNOTATIONS @ layer.W_a[:, D:].T)
    for t in range(TY):
        step = slice(t, t + 1)
        energies = covered_energies(q[:, step], keys, layer.v_a, layer.w_c, covered.unsqueeze(1))
        expected = masked_softmax(energies, MASK)[:, 0]
        torch.testing.assert_close(alpha[:, t], expected)
        covered = covered + expected
    unseen, *_ = made(energy)
    unseen.load_state_dict({name: w for name, w in layer.state_dict().items() if name != "w_c"})
    blind = unseen.attend_sequence(QUERY, unseen.keys(ANNOTATIONS), ANNOTATIONS, MASK).alpha
    torch.testing.assert_close(blind[:, 0], alpha[:, 0])
    assert (blind[:, 1:] - alpha[:, 1:]).abs().max() > 0.01, "the example must distinguish the two"


def test_the_parts_are_those_named():
    layer = build_attention("additive", 4, 6, 5, normalizer="sparsemax", window="local-p", window_size=3)
    assert isinstance(layer, Additive)
    assert isinstance(layer.window, LocalP)
    assert (layer.normalize, layer.window.window_size, layer.plain) == (sparsemax, 3, False)
    assert isinstance(build_attention("dot", 4, 4, 1, window="local-m").window, LocalM)
    heads = build_attention("qkv", 4, 6, 8, heads=2)
    assert isinstance(heads, QueryKeyValue)
    assert (heads.heads, heads.plain) == (2, True)
    assert not build_attention("concat", 4, 6, 8, coverage=True).plain
    assert build_attention("additive", None, 6, 5).query_width == 5


REFUSED = {
    "energy": ({"energy": "cosine"}, r"no energy 'cosine'; .*concat"),
    "normalizer": ({"normalizer": "sparsmax"}, r"no normalizer 'sparsmax'; did you mean 'sparsemax'"),
    "window": ({"window": "local"}, r"no window 'local'; did you mean 'local-\w'"),
    "coverage": (
        {"energy": "dot", "coverage": True},
        r"coverage is allowed with additive and concat, not with 'dot'",
    ),
    "heads": ({"heads": 2}, r"2 heads are allowed with 'qkv', not with 'additive'"),
    "window of what": (
        {"query_size": None, "window": "local-p"},
        r"'local-p' needs queries that come unprojected",
    ),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_parts_that_do_not_go_together_are_refused(options, message):
    given = {"energy": "additive", "query_size": 4, "annotation_size": 4, "size": 4} | options
    with pytest.raises(ConfigError, match=message):
        build_attention(**given)


def test_no_other_energy_takes_coverage():
    layer = build_attention("dot", 4, 4, 1)
    with pytest.raises(NotImplementedError, match="Dot has no tanh"):
        layer.covered_score(torch.zeros(1, 1, 4), torch.zeros(1, 2, 4), torch.zeros(1, 1, 2))


def test_general_is_luongs_name_for_bilinear():
    assert ENERGIES["general"] is ENERGIES["bilinear"] is Bilinear
    general, bilinear = (build_attention(energy, D, D, 6).double() for energy in ("general", "bilinear"))
    general.load_state_dict(bilinear.state_dict())
    torch.testing.assert_close(
        general(QUERY, ANNOTATIONS, MASK), bilinear(QUERY, ANNOTATIONS, MASK), rtol=0, atol=0
    )


def test_one_head_is_the_matrix_form():
    layer = QueryKeyValue(D, D, 7).double()
    context, alpha, _ = layer.attend(QUERY, layer.keys(ANNOTATIONS), layer.values(ANNOTATIONS), MASK)
    expected = query_key_value(QUERY, ANNOTATIONS, MASK, layer.W_Q, layer.W_K, layer.W_V)
    torch.testing.assert_close((context, alpha), expected)


FORMS = {
    "qk": ("qk", {}),
    "unscaled": ("qkv", {"scaled": False}),
    "r below d": ("qkv", {"value_size": 3}),
    "r above d": ("qkv", {"value_size": D + 5, "scaled": False}),
}


@pytest.mark.parametrize(("energy", "options"), FORMS.values(), ids=FORMS)
def test_the_lectures_forms_are_the_naive_op(energy, options):
    """Unscaled W_Q and W_K without W_V, without the scale, and values of another width r."""
    layer = build_attention(energy, D, D, 7, **options).double()
    context, alpha, _ = layer(QUERY, ANNOTATIONS, MASK)
    W_V = getattr(layer, "W_V", None)
    scaled = energy == "qkv" and options.get("scaled", True)
    matrices = (layer.W_Q, layer.W_K, W_V)
    expected = naive.query_key_value(QUERY, ANNOTATIONS, MASK, *matrices, scaled=scaled)
    torch.testing.assert_close((context, alpha), expected)
    assert context.shape[-1] == layer.context_size == options.get("value_size", D)
    other = naive.query_key_value(QUERY, ANNOTATIONS, MASK, *matrices, scaled=not scaled)
    assert (alpha - other[1]).abs().max() > 0.01, "the example must distinguish the two"


@pytest.mark.parametrize("heads", [2, 4])
def test_heads_are_attentions_side_by_side(heads):
    layer = QueryKeyValue(D, D, 12, heads).double()
    keys, values = layer.keys(ANNOTATIONS), layer.values(ANNOTATIONS)
    context, alpha, _ = layer.attend(QUERY, keys, values, MASK)
    alone = [
        query_key_value(QUERY, ANNOTATIONS, MASK, *matrices)
        for matrices in zip(*(W.chunk(heads) for W in (layer.W_Q, layer.W_K, layer.W_V)), strict=True)
    ]
    joined = torch.cat([each for each, _ in alone], dim=-1)
    torch.testing.assert_close(context, joined @ layer.W_O.T)
    alpha_by_head = layer.alpha_by_head(QUERY, keys, MASK)
    assert alpha_by_head.shape == (B, heads, TY, TX)
    torch.testing.assert_close(alpha_by_head, torch.stack([each for _, each in alone], dim=1))
    torch.testing.assert_close(alpha, alpha_by_head.mean(dim=1))
    assert (alpha_by_head[:, 0] - alpha_by_head[:, 1]).abs().max() > 0.01, (
        "the example must distinguish the heads"
    )


@pytest.mark.parametrize(("size", "annotations"), [(7, 6), (6, 7)])
def test_widths_that_heads_cannot_share_are_refused(size, annotations):
    message = f"2 heads cannot share queries of {size} units and values of {annotations}; .*multiples"
    with pytest.raises(ConfigError, match=message):
        QueryKeyValue(5, annotations, size, heads=2)
