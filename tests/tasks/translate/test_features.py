"""Sources with features: trained on, saved, required, refused, and seen in every result."""

import numpy as np
import pytest

from regard.errors import ConfigError, DataError
from regard.tasks import prepare_task
from regard.tasks.translate.config import DataConfig, TokenizerConfig
from regard.tasks.translate.evaluation import evaluate
from regard.tasks.translate.predictor import Translator
from regard.tasks.translate.result import Translation, replace_unknowns
from regard.tasks.translate.task import count_features, parse_pairs, prepare, read_corpus
from regard.text import FeaturedText, SentencePair
from regard.training.run import run_training

CHAR = {"source": "char", "target": "char"}
EXAMPLES = [
    ((stem, f"V;{tense}"), stem + suffix)
    for stem in ("ab", "ba", "abb", "bab", "aab", "bba")
    for tense, suffix in (("PRS", "s"), ("PST", "ed"))
]
PLAIN = [(stem, form) for (stem, _), form in EXAMPLES]


@pytest.fixture
def trained(run_config, tmp_path):
    """A translator after a few updates, loaded from its folder."""

    def build(examples, **options):
        config = run_config(tokenizer={**CHAR, **options})
        run_training(tmp_path / "model", config, train=examples, valid=examples[:4])
        return Translator.load(tmp_path / "model")

    return build


class TestData:
    def test_tuples_and_pairs_are_the_same(self):
        [pair] = parse_pairs([(("run", "V;PST"), "ran")])
        assert pair == SentencePair("run", "ran", features=("V", "PST"))
        assert parse_pairs([pair]) == [pair]
        assert pair.input == FeaturedText("run", ("V", "PST"))
        assert SentencePair("run", "ran").input == "run"

    def test_all_sources_have_features_or_none_has(self):
        mixed = parse_pairs([EXAMPLES[0], PLAIN[0]])
        with pytest.raises(DataError, match="some sources have features and some have none"):
            count_features(mixed)
        with pytest.raises(DataError, match="some sources have features and some have none"):
            prepare(mixed[:1], mixed[1:], DataConfig(), TokenizerConfig(**CHAR), seed=1)
        with pytest.raises(DataError, match="the features of all sources are blank"):
            count_features(parse_pairs([(("run", ""), "ran")]))
        assert count_features(parse_pairs(EXAMPLES)) == {"V": 12, "PRS": 6, "PST": 6}

    def test_what_was_recognised_is_in_the_notes(self, run_config, tmp_path):
        rows = [f"{stem}\t{form}\t{features}\n" for (stem, features), form in EXAMPLES]
        (tmp_path / "train.tsv").write_text("".join(rows))
        (tmp_path / "valid.tsv").write_text("".join(rows[:4]))
        files = {"train": [str(tmp_path / "train.tsv")], "valid": [str(tmp_path / "valid.tsv")]}
        task = prepare_task(run_config(tokenizer=CHAR, data=files), None, None)
        assert "lemma, form, features, as in UniMorph" in task.notes[0]
        assert task.tokenizers["source"].features == ("V", "PRS", "PST")
        assert task.tokenizers["target"].features == ()

    def test_validation_files_need_them_too(self, run_config, tmp_path):
        (tmp_path / "valid.tsv").write_text("ab\tabs\nba\tbas\n")
        with pytest.raises(DataError, match="trained with features"):
            prepare_task(
                run_config(tokenizer=CHAR, data={"valid": [str(tmp_path / "valid.tsv")]}), EXAMPLES, None
            )

    def test_a_lemma_may_be_in_both_parts_with_other_features(self):
        pairs = parse_pairs([(("run", f"V;{n}"), f"run{n}") for n in range(40)])
        prepared = prepare(pairs, None, DataConfig(), TokenizerConfig(**CHAR), seed=1)
        assert (len(prepared.train), len(prepared.valid)) == (38, 2)

    def test_columns_by_name_in_a_configuration(self, run_config, tmp_path):
        rows = [f"{form}\t{stem}\t{features}\n" for (stem, features), form in EXAMPLES]
        (tmp_path / "train.tsv").write_text("".join(["wanted\tgiven\tmsd\n", *rows]))
        named = {"columns": ["given", "wanted"], "features": "msd", "train": [str(tmp_path / "train.tsv")]}
        numbered = {**named, "columns": [2, 1], "features": 3}
        task = prepare_task(run_config(tokenizer=CHAR, data=named), None, None)
        assert task.num_train + task.num_valid == len(EXAMPLES)
        assert set(task.tokenizers["source"].features) == {"V", "PRS", "PST"}
        (tmp_path / "train.tsv").write_text("".join(rows))
        assert prepare_task(run_config(tokenizer=CHAR, data=numbered), None, None).num_train == task.num_train

    def test_the_column_may_be_named(self, tmp_path):
        (tmp_path / "a.tsv").write_text("x\tab\tabs\ny\tba\tbas\n")
        [pair, _] = read_corpus([str(tmp_path / "a.tsv")], (), 1)
        assert (pair.source, pair.features, pair.target) == ("ab", ("x",), "abs")

    def test_not_with_a_pretrained_encoder(self, run_config, language_model):
        config = run_config(pretrained={"encoder": str(language_model())})
        with pytest.raises(ConfigError, match=r"pretrained\.encoder: the language model read no features"):
            prepare_task(config, EXAMPLES, EXAMPLES[:4])


class TestTranslator:
    @pytest.mark.parametrize("shared", [False, True])
    def test_takes_them_in_every_form(self, trained, shared):
        translator = trained(EXAMPLES, shared=shared)
        assert translator.features == ("V", "PRS", "PST")
        given = [("ab", "V;PST"), ("ab", ["V", "PST"]), "ab\tV|PST", FeaturedText("ab", ("V", "PST"))]
        results = translator.translate(given)
        assert len({(each.text, each.score) for each in results}) == 1
        for each in results:
            assert (each.source, each.features) == ("ab", ("V", "PST"))
            assert each.source_tokens == ("a", "b", "V", "PST", "</s>")
            assert each.source_words == (0, 0, 1, 2, None)
            assert each.word_alpha.source_labels == ("ab", "V", "PST", "</s>")
            assert each.to_json()["features"] == ["V", "PST"]

    def test_they_matter(self, trained):
        scores = [
            each.log_prob
            for each in trained(EXAMPLES).align([("ab", "V;PST"), ("ab", "V;PRS")], ["abed"] * 2)
        ]
        assert scores[0] != scores[1]

    def test_blank_lines_need_none(self, trained):
        assert [each.text for each in trained(EXAMPLES).translate(["", "  ", ("", "V")])] == [""] * 3

    def test_sources_without_are_refused(self, trained):
        translator = trained(EXAMPLES)
        for call in (
            lambda: translator.translate([("ab", "V"), "ab"]),
            lambda: translator.align([("ab", "V"), "ab"], ["a", "b"]),
        ):
            with pytest.raises(
                DataError, match=r"line 2 \('ab'\): no features, .*\(V, PRS, PST\); give them"
            ):
                call()
        for call in (lambda: translator.tree("ab"), lambda: translator.what_if("ab", prefix="a")):
            with pytest.raises(DataError, match="no features"):
                call()

    def test_a_model_without_refuses_them(self, trained):
        translator = trained(PLAIN)
        assert translator.features == ()
        with pytest.raises(DataError, match=r"features \(V, PST\), and this model was trained without"):
            translator.translate([("ab", "V;PST")])
        assert translator.translate(["ab\tab"])[0].source == "ab\tab", "a tab is a blank"

    def test_trees_and_what_ifs_show_them(self, trained):
        translator = trained(EXAMPLES)
        tree = translator.tree(("ab", "V;PST"), beam=2)
        assert "ab V PST" in repr(tree)
        result = translator.what_if(("ab", "V;PST"), attend={0: "PST"}, swap={"ab": "ba"})
        assert result.after.source_tokens == ("b", "a", "V", "PST", "</s>")
        np.testing.assert_array_equal(result.after.alpha[0], [0, 0, 0, 1, 0])

    def test_an_evaluation(self, trained):
        translator = trained(EXAMPLES)
        sources, references = [source for source, _ in EXAMPLES], [form for _, form in EXAMPLES]
        evaluation = evaluate(translator, sources, references, beam=1)
        assert evaluation.quality.num_sentences == len(EXAMPLES)
        assert evaluation.translations[0].features == ("V", "PRS")


def test_an_unknown_word_is_never_replaced_by_a_feature():
    alpha = np.array([[0.2, 0.8, 0.0], [0.0, 0.0, 1.0]], dtype=np.float32)
    translation = Translation(
        source="Anna",
        text="<unk>",
        source_tokens=("Anna", "PST", "</s>"),
        tokens=("<unk>", "</s>"),
        score=0.0,
        log_prob=0.0,
        token_log_probs=(0.0, 0.0),
        alpha=alpha,
        source_words=(0, 1, None),
        target_words=(0, None),
        features=("PST",),
    )
    assert replace_unknowns(translation).text == "Anna"
