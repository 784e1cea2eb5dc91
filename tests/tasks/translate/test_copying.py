"""Translators whose words are not chosen by one softmax: the laws of search, of folders and of packing."""

import pytest
import torch

from regard.batches import pad_pairs
from regard.checkpoint import ModelFolder
from regard.errors import ConfigError
from regard.inference.ensemble import Ensemble, average_models
from regard.inference.packing import pack_model
from regard.inference.shortlist import train_shortlist
from regard.search.options import SamplingOptions
from regard.tasks.base import sequence_loss
from regard.tasks.translate.objective import TranslationObjective, mix_in_samples
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.task import TranslateTask
from regard.text import SentencePair, match_tokens, train_tokenizer
from regard.text.specials import UNK

MIXTURES = {
    "bahdanau": {"copy": True},
    "luong": {"kind": "luong", "copy": True},
    "hard-monotonic": {"kind": "hard-monotonic"},
}
LINES = ["a b c", "d", "e e b a", "c d e a b"]


@pytest.fixture(params=MIXTURES.values(), ids=MIXTURES.keys())
def task(request, run_config, pairs):
    """Pairs of which both sides have some words in common."""
    mixed = [SentencePair(f"{pair.source} {pair.target}", pair.target) for pair in pairs(30)]
    torch.manual_seed(3)
    task = TranslateTask(run_config(model={"decoder": request.param}), mixed[10:], mixed[:10])
    model = task.build().eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return task


@pytest.fixture
def translator(task):
    return Translator(task.model, task.tokenizers["source"], task.tokenizers["target"])


def test_the_score_of_a_search_is_that_of_forced_decoding(translator):
    """The packed copy searches, the model itself scores; a beam as well as greedy search."""
    compared = 0
    for beam in (1, 4):
        for result in translator.translate(LINES, beam=beam, n_best=beam):
            for hypothesis in (result, *result.alternatives):
                (forced,) = translator.align([hypothesis.source], [hypothesis.text])
                if forced.tokens != hypothesis.tokens:
                    continue  # a blank hypothesis, or one with an unknown word, is not the same line again
                compared += 1
                assert forced.log_prob == pytest.approx(hypothesis.log_prob, abs=2e-4)
                torch.testing.assert_close(
                    torch.tensor(forced.alpha), torch.tensor(hypothesis.alpha), rtol=0, atol=2e-4
                )
    assert compared >= 8


def test_lines_alone_are_lines_together(translator):
    together = translator.translate(LINES, beam=3)
    for line, one in zip(LINES, together, strict=True):
        (alone,) = translator.translate([line], beam=3)
        assert alone.tokens == one.tokens
        assert alone.log_prob == pytest.approx(one.log_prob, abs=1e-4)


def test_every_precision_and_every_search_runs(translator, task):
    tokenizers = task.tokenizers["source"], task.tokenizers["target"]
    for precision in ("float32", "bfloat16", "int8"):
        assert len(Translator(task.model, *tokenizers, precision=precision).translate(LINES)) == len(LINES)
    assert pack_model(task.model).decoder.fused_step is None, "the fused step has one softmax"
    assert translator.translate(LINES, sampling=SamplingOptions(), num_samples=2)[0].text is not None
    assert translator.tree(LINES[0]).steps
    forced = translator.what_if(LINES[0], attend={0: 1})
    assert forced.after.alpha[0, 1] == pytest.approx(1.0)
    together = Translator(Ensemble([task.model, task.model]), *tokenizers)
    (one,), (other,) = translator.translate(LINES[:1]), together.translate(LINES[:1])
    assert one.tokens == other.tokens


def test_a_saved_model_is_loaded_as_it_was(task, translator, tmp_path):
    folder = ModelFolder(tmp_path / "model")
    folder.create("translate", task.model.config, task.tokenizers, sizes=task.sizes)
    folder.write_weights("best", task.model, {})
    loaded = Translator.load(tmp_path / "model")
    if task.model.copy_map is not None:
        assert torch.equal(loaded.model.copy_map, task.model.copy_map)
        assert (task.model.copy_map != torch.arange(len(task.model.copy_map))).any(), "two vocabularies"
    batch = pad_pairs(task.prepared.valid)
    assert torch.equal(loaded.model(batch).logits, task.model(batch).logits)
    assert [each.text for each in loaded.translate(LINES)] == [
        each.text for each in translator.translate(LINES)
    ]
    mean = average_models([loaded.model, Translator.load(tmp_path / "model").model])
    torch.testing.assert_close(mean(batch).logits, task.model(batch).logits)


def test_the_objective_is_the_cross_entropy_of_the_mixture(task):
    batch = pad_pairs(task.prepared.train[:5])
    with torch.no_grad():
        loss = TranslationObjective(task.model, 0.1, coverage=0.5)(batch)
        plain = TranslationObjective(task.model, 0.1)(batch)
        expected = sequence_loss(task.model(batch).logits, batch.target_ids[batch.target_mask], 0.1)
    torch.testing.assert_close(plain, expected)
    assert loss > plain
    mixed = mix_in_samples(task.model, batch, 1.0, torch.Generator().manual_seed(1))
    assert mixed.previous_ids.shape == batch.previous_ids.shape


def test_shortlists_are_refused(translator, task):
    trained = train_shortlist(task.model, task.prepared.train, *task.sizes.values())
    shortlisted = Translator(
        task.model, task.tokenizers["source"], task.tokenizers["target"], shortlist=trained
    )
    with pytest.raises(ConfigError, match="leave the shortlist out"):
        shortlisted.translate(LINES)


def test_what_is_written_alike_is_copied(run_config, pairs):
    mixed = [SentencePair(f"{pair.source} {pair.target}", pair.target) for pair in pairs(30)]
    task = TranslateTask(run_config(model={"decoder": {"copy": True}}), mixed[10:], mixed[:10])
    model = task.build()
    source, target = task.tokenizers["source"], task.tokenizers["target"]
    assert model.copy_map[source.token_to_id("B")] == target.token_to_id("B")
    assert model.copy_map[source.token_to_id("b")] == -1
    assert any("copying: 5 of 10 source tokens are target tokens, too" in note for note in task.notes)


@pytest.fixture(params=["bahdanau", "luong"])
def copier(request, run_config, pairs):
    """A model that copies whatever it attends to and generates nothing."""
    mixed = [SentencePair(f"{pair.source} {pair.target}", pair.target) for pair in pairs(30)]
    torch.manual_seed(3)
    decoder = {"kind": request.param, "copy": True}
    task = TranslateTask(run_config(model={"decoder": decoder}), mixed[10:], mixed[:10])
    model = task.build().eval()
    with torch.no_grad():
        model.decoder.pointer.b.fill_(-30.0)
    return Translator(model, task.tokenizers["source"], task.tokenizers["target"])


GENERATED = -20  # what is generated has a lower log p: p_gen is e⁻³⁰
SEARCHES = {
    "greedy": {"beam": 1},
    "beam": {"beam": 12, "n_best": 12},
    "sampling": {"sampling": SamplingOptions(), "num_samples": 4},
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES.keys())
def test_a_word_outside_the_vocabulary_is_copied_as_itself(copier, search):
    lines = ["zebra A gnu zebra", "A B", "okapi", "a b"]
    results = copier.translate(lines, min_length=2, max_extra=4, max_ratio=0, **search)
    results = [(one, *(each for each in one.alternatives if each.log_prob > GENERATED)) for one in results]
    words = [{word for each in one for word in each.text.split()} for one in results]
    assert words[0] <= {"zebra", "A", "gnu"}
    assert words[0] & {"zebra", "gnu"}
    assert words[1] <= {"A", "B"}, "the words of other sentences are not copied"
    assert words[2] == {"okapi"}
    assert results[0][0].source_tokens == ("zebra", "A", "gnu", "zebra", "</s>")
    for one in results[:3]:
        for each in one:
            assert each.text == " ".join(each.tokens[:-1])
            (forced,) = copier.align([each.source], [each.text])
            assert forced.tokens == each.tokens
            assert forced.log_prob == pytest.approx(each.log_prob, abs=2e-3)


def test_copied_words_in_a_tree_an_intervention_and_an_ensemble(copier):
    tree = copier.tree("okapi gnu", min_length=2)
    probable = {partial.token for step in tree.steps for partial in step if partial.log_prob > GENERATED}
    assert probable == {"okapi", "gnu", "</s>"}
    for position, word in enumerate(("gnu", "okapi")):
        assert copier.what_if("gnu okapi", attend={0: position}).after.tokens[0] == word
    two = Translator(Ensemble([copier.model, copier.model]), copier.source_tokenizer, copier.target_tokenizer)
    (one,), (other,) = copier.translate(["okapi"], min_length=1), two.translate(["okapi"], min_length=1)
    assert one.text == other.text
    assert "okapi" in other.text


def test_other_models_read_unknown_words_as_one(run_config, pairs):
    task = TranslateTask(run_config(), pairs(30)[10:], pairs(30)[:10])
    translator = Translator(task.build().eval(), task.tokenizers["source"], task.tokenizers["target"])
    assert not translator.copies
    assert translator.encode(["okapi a gnu"])[0][::2] == [UNK, UNK]


def test_features_are_never_copied():
    """Not as words of the target, nor as the features of one tokenizer for both sides, nor as unknown ones."""
    both = train_tokenizer("word", ["V run PST"], size=20).with_features(["V", "PST"])
    plain = train_tokenizer("word", ["V ran PST"], size=20)
    for target in (both, plain):
        matched = match_tokens(both, target)
        assert len(matched) == both.size
        assert matched[-2:] == [-1, -1]
        assert matched[both.token_to_id("V")] == target.token_to_id("V")
        assert max(matched) < target.size - len(target.features)
        assert matched[UNK] == -1
    letters = train_tokenizer("char", ["run 3"], size=20).with_features(["3"])
    phones = train_tokenizer("word", ["r 3 n"], size=20)
    assert match_tokens(letters, phones)[-1] == -1
    assert match_tokens(letters, phones)[letters.token_to_id("3")] == phones.token_to_id("3")


def test_unknown_features_are_not_copied_either(run_config):
    examples = [((stem, f"V;{tense}"), stem + tense) for stem in ("ab", "ba", "bab") for tense in "st"]
    config = run_config(tokenizer={"source": "char", "target": "char"}, model={"decoder": {"copy": True}})
    task = TranslateTask(config, examples, examples)
    model = task.build().eval()
    with torch.no_grad():
        model.decoder.pointer.b.fill_(-30.0)
    translator = Translator(model, task.tokenizers["source"], task.tokenizers["target"])
    for beam in (1, 5):
        (one,) = translator.translate([("xaé", "V;FUT;s")], beam=beam, n_best=beam, min_length=3)
        assert one.source_tokens == ("x", "a", "é", "V", "<unk>", "s", "</s>")
        for each in (one, *one.alternatives):
            assert set(each.text) <= set("xaé") or each.log_prob < GENERATED
    assert translator.align([("xa", "V;s")], [" "])[0].tokens == (), "a blank line is blank"


def test_two_sides_with_nothing_in_common_are_refused(run_config, pairs):
    task = TranslateTask(run_config(model={"decoder": {"copy": True}}), pairs(30), pairs(10, seed=1))
    with pytest.raises(ConfigError, match=r"model\.decoder\.copy: no token of the source.*= false"):
        task.build()


def test_matching_tokens_of_two_kinds():
    words = train_tokenizer("word", ["k ae t", "tt k"], size=20)
    characters = train_tokenizer("char", ["tack", "a t"], size=20)
    matched = match_tokens(characters, words)
    assert matched[:4] == [-1, 1, -1, 3], "the unknown word and EOS are copied as themselves"
    shown = {characters.tokens([i])[0]: j for i, j in enumerate(matched) if i > 3}
    assert shown == {
        "t": words.token_to_id("t"),
        "k": words.token_to_id("k"),
        "a": -1,
        "c": -1,
        "␣": -1,
    }
    assert match_tokens(words, words) == [-1, 1, -1, 3, *range(4, words.size)]


def test_pieces_inside_a_word_are_not_those_that_begin_one():
    bpe = train_tokenizer("bpe", ["an banana an an", "bandana an"], size=30)
    matched = match_tokens(bpe, bpe)
    assert matched[4:] == list(range(4, bpe.size))
