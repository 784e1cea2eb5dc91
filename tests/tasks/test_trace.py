"""A trace as people and programs get it: the predicted words, JSON, arrays, pages; and what is refused."""

import json

import numpy as np
import pytest
import torch

from regard.errors import ConfigError, DataError
from regard.inference.ensemble import Ensemble
from regard.models import (
    CaptionerConfig,
    CaptionerNetwork,
    ClassifierConfig,
    ClassifierNetwork,
    LanguageModelConfig,
    LanguageModelNetwork,
    TaggerConfig,
    TaggerNetwork,
)
from regard.tasks.caption.predictor import Captioner
from regard.tasks.classify.predictor import Classifier
from regard.tasks.language_model.predictor import LanguageModel
from regard.tasks.tag.predictor import Tagger
from regard.tasks.trace import Trace
from regard.tasks.translate.predictor import Translator
from regard.text import train_tokenizer

PART = {"embedding_size": 3, "state_size": 4}
TOKENIZER = train_tokenizer("word", ["a b c d e"], size=50)


def scatter(model):
    generator = torch.Generator().manual_seed(5)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7, generator=generator)
    return model.float().eval()


@pytest.fixture
def translator(tiny_model):
    model = tiny_model("bahdanau")
    assert TOKENIZER.size == 9
    return Translator(scatter(model), TOKENIZER, TOKENIZER)


@pytest.mark.parametrize("kind", ["bahdanau", "luong", "sutskever", "cho", "hard-monotonic"])
@pytest.mark.parametrize("options", [{"beam": 1}, {"beam": 4, "max_extra": 3}])
def test_the_words_are_those_of_translate(tiny_model, kind, options):
    translator = Translator(scatter(tiny_model(kind)), TOKENIZER, TOKENIZER)
    for line in ("a b c", "e d d a b", "unheard c"):
        trace = translator.trace(line, **options)
        (translation,) = translator.translate([line], **options)
        assert trace.output == translation.text
        assert trace.output_tokens == translation.tokens
        assert trace.tokens == translation.source_tokens
        steps = trace["decoder"].steps
        assert tuple(step.output for step in steps) == translation.tokens
        assert tuple(step.token for step in steps) == ("<s>", *translation.tokens[:-1])
        np.testing.assert_allclose(
            [step.probability for step in steps], np.exp(translation.token_log_probs), atol=1e-5
        )
        if options["beam"] == 1:
            for step in steps[:-1]:
                allowed = [token for token, _ in step.candidates if token not in ("<pad>", "<s>")]
                assert step.output == allowed[0]


@pytest.mark.parametrize(
    ("cell", "papers", "slides"),
    [
        ("gru", ["o_i = W_o t_i + b_o", "p(y_i) = softmax(o_i)"], ["o_t = c + V t_t", "p_t = softmax(o_t)"]),
        ("lstm", ["l_t = W_l t_t + b_l", "p(y_t) = softmax(l_t)"], ["l_t = c + V t_t", "p_t = softmax(l_t)"]),
    ],
)
def test_the_logits_are_shown_at_the_candidates_and_have_their_own_letter(tiny_model, cell, papers, slides):
    translator = Translator(scatter(tiny_model("bahdanau", cell)), TOKENIZER, TOKENIZER)
    section = translator.trace("a b", dtype="float64")["decoder"]
    last = section.parts[-2:]
    assert [part.equations["papers"] for part in last] == papers
    assert [part.equations["slides"] for part in last] == slides
    step = section.steps[0]
    tokens, values = zip(*section.candidates(last[0], step), strict=True)
    assert tokens == tuple(token for token, _ in step.candidates)
    raised = np.exp(values) / np.exp(step.values["logits"]).sum()
    np.testing.assert_allclose(raised, [chance for _, chance in step.candidates], rtol=1e-12)


def test_a_given_target_is_read_word_by_word(translator):
    trace = translator.trace("a b c", target="d d e")
    (pair,) = translator.align(["a b c"], ["d d e"])
    assert trace.output_tokens == pair.tokens == ("d", "d", "e", "</s>")
    np.testing.assert_allclose(trace.alpha, pair.alpha, atol=1e-5)


def test_logits_that_are_not_those_of_the_candidates_are_not_shown(tiny_model):
    translator = Translator(scatter(tiny_model("hard-monotonic")), TOKENIZER, TOKENIZER)
    section = translator.trace("a b")["decoder"]
    own = [
        part.name
        for part in section.parts
        if part.axis == "words" and section.candidates(part, section.steps[0])
    ]
    assert own == ["probabilities"]


def test_the_words_of_a_copying_model_are_its_source_s(tiny_model):
    model = tiny_model("luong", copy=True)
    translator = Translator(scatter(model), TOKENIZER, TOKENIZER)
    trace = translator.trace("unheard c", target="unheard unheard")
    assert trace.output_tokens == ("unheard", "unheard", "</s>")
    assert any(token == "unheard" for token, _ in trace["decoder"].steps[0].candidates)


def test_json_has_every_number_once_and_both_letters(translator):
    trace = translator.trace("a b c", dtype="float64")
    shown = json.loads(json.dumps(trace.to_json()))
    assert shown["format"] == 1
    assert shown["tokens"] == ["a", "b", "c", "</s>"]
    assert [section["key"] for section in shown["sections"]] == [
        *("encoder.forward", "encoder.backward", "annotations", "start", "decoder")
    ]
    decoder = shown["sections"][-1]
    (alpha,) = [part for part in decoder["parts"] if part["name"] == "alpha"]
    assert alpha["symbol"] == {"papers": "α_ij", "slides": "a_{t,i}"}
    assert alpha["equation"]["papers"] == "α_ij = exp(e_ij) / Σ_k exp(e_ik)"
    assert alpha["axis"] == "source"
    for step, row in zip(decoder["steps"], trace.alpha, strict=True):
        np.testing.assert_allclose(step["values"]["alpha"], row, atol=1e-6)
        assert "logits" not in step["values"]
        assert sum(each["probability"] for each in step["candidates"]) == pytest.approx(1, abs=1e-4)
    assert [step["position"] for step in shown["sections"][1]["steps"]] == [3, 2, 1, 0]


def test_arrays_are_stacked_over_steps(translator, tmp_path):
    trace = translator.trace("a b c", dtype="float64")
    trace.save(tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz") as arrays:
        np.testing.assert_array_equal(arrays["decoder/alpha"], trace.alpha)
        assert arrays["decoder/probabilities"].shape == (len(trace.output_tokens), 9)
        assert arrays["decoder/state"].dtype == np.float64
        assert arrays["tokens"].tolist() == ["a", "b", "c", "</s>"]


def test_slots_that_are_not_yet_written_are_not_numbers(tiny_model):
    translator = Translator(scatter(tiny_model("bahdanau", cell="lstmn")), TOKENIZER, TOKENIZER)
    section = translator.trace("a b c")["encoder.forward"]
    values = section.values("past.alpha")
    assert values.shape == (4, 3)
    np.testing.assert_array_equal(np.isnan(values), ~np.tri(4, 3, -1, dtype=bool))
    assert section.steps[2].past == ("a", "b")
    backward = translator.trace("a b c")["encoder.backward"]
    assert backward.steps[2].past == ("</s>", "c")
    decoder = translator.trace("a b c", target="d e")["decoder"]
    assert [step.past for step in decoder.steps] == [("s_0",), ("s_0", "<s>"), ("s_0", "<s>", "d")]


def test_files_are_written_by_their_suffix(translator, tmp_path):
    trace = translator.trace("a b c")
    trace.save(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text(encoding="utf-8")) == trace.to_json()
    trace.save(tmp_path / "trace.html")
    assert (tmp_path / "trace.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(ConfigError, match=r"no format for the suffix '.xml'; use .html, .json, .npz"):
        trace.save(tmp_path / "trace.xml")


def test_what_cannot_be_traced_is_refused(translator):
    with pytest.raises(DataError, match="the line is blank"):
        translator.trace(" ")
    with pytest.raises(DataError, match="the target is blank"):
        translator.trace("a", target=" ")
    with pytest.raises(ConfigError, match="letters: no 'greek'; known: papers, slides"):
        translator.trace("a", letters="greek")
    with pytest.raises(ConfigError, match="dtype: no 'int8'; known: float32, float64"):
        translator.trace("a", dtype="int8")
    with pytest.raises(ConfigError, match="did you mean 'beam'"):
        translator.trace("a", baem=1)
    with pytest.raises(ConfigError, match=r"no section 'reader'; this trace has encoder\.forward"):
        translator.trace("a")["reader"]
    both = Translator(Ensemble([*translator.models] * 2), TOKENIZER, TOKENIZER)
    with pytest.raises(ConfigError, match="an ensemble of 2; open one of its members"):
        both.trace("a")


def test_a_language_model_s_line():
    model = scatter(LanguageModelNetwork(LanguageModelConfig(cell="lstmn", **PART), TOKENIZER.size))
    language_model = LanguageModel(model, TOKENIZER)
    trace = language_model.trace("a b")
    (scored,) = language_model.score(["a b"])
    steps = trace["language_model"].steps
    assert [step.output for step in steps] == ["a", "b", "</s>"]
    assert [step.past for step in steps] == [(), ("<s>",), ("<s>", "a")]
    np.testing.assert_allclose(
        np.log([step.probability for step in steps]), scored.token_log_probs, atol=1e-5
    )
    with pytest.raises(DataError, match="blank"):
        language_model.trace("")


def test_a_classifier_s_text_and_pair():
    for num_texts, line in ((1, "a b c"), (2, ("a b", "c"))):
        config = ClassifierConfig.from_mapping({"encoder": PART, "num_texts": num_texts}, "model")
        model = scatter(ClassifierNetwork(config, TOKENIZER.size, 3))
        classifier = Classifier(model, TOKENIZER, ("no", "so so", "yes"))
        trace = classifier.trace(line)
        (classified,) = classifier.classify([line])
        assert trace.output == classified.label
        found = dict(trace["output"].steps[0].candidates)
        for label, probability in classified.probabilities.items():
            assert found[label] == pytest.approx(probability, abs=1e-5)
    config = ClassifierConfig.from_mapping(
        {"encoder": PART, "num_texts": 2, "between": "attention", "pooling": "mean"}, "model"
    )
    model = scatter(ClassifierNetwork(config, TOKENIZER.size, 3))
    classifier = Classifier(model, TOKENIZER, ("no", "so so", "yes"))
    trace = classifier.trace(("a b", "c"))
    assert trace.output == classifier.classify([("a b", "c")])[0].label
    own, other = trace["text1.between"].steps, trace["text2.between"].steps
    assert ([step.token for step in own], [step.token for step in other]) == (
        ["a", "b", "</s>"],
        ["c", "</s>"],
    )
    assert np.shape(own[0].values["alpha"]) == (2,)
    np.testing.assert_allclose(np.sum(other[1].values["alpha"]), 1, atol=1e-6)
    with pytest.raises(DataError, match="blank"):
        classifier.trace(("a", " "))


def test_a_tagger_s_sentence():
    config = TaggerConfig.from_mapping({"encoder": PART}, "model")
    tagger = Tagger(scatter(TaggerNetwork(config, TOKENIZER.size, 3)), TOKENIZER, ("A", "B", "C"))
    trace = tagger.trace("a unheard c")
    (tagging,) = tagger.tag(["a unheard c"])
    assert trace.output_tokens == tagging.tags
    assert trace.tokens == ("a", "unheard", "c", "</s>")
    with pytest.raises(DataError, match="blank"):
        tagger.trace("")


def test_a_captioner_s_vector():
    config = CaptionerConfig.from_mapping({"decoder": {"kind": "cho", **PART}}, "model")
    captioner = Captioner(scatter(CaptionerNetwork(config, 2, TOKENIZER.size)), TOKENIZER, max_length=7)
    trace = captioner.trace([0.5, -1.0])
    (caption,) = captioner.caption([[0.5, -1.0]], beam=1)
    assert trace.output == caption.text
    assert trace.output_tokens == caption.tokens
    given = captioner.trace([0.5, -1.0], target="a b")
    assert given.output_tokens == ("a", "b", "</s>")
    with pytest.raises(DataError, match="3 features in a row"):
        captioner.trace([1, 2, 3])
    with pytest.raises(DataError, match="the target is blank"):
        captioner.trace([0.5, -1.0], target="")


def test_a_trace_says_what_it_is(translator):
    trace = translator.trace("a b")
    assert repr(trace).startswith("Trace('a b' → ")
    assert isinstance(trace, Trace)
    assert [section.key for section in trace.sections_of("encoder")] == [
        "encoder.forward",
        "encoder.backward",
    ]
