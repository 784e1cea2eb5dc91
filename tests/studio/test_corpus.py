"""A run's sentences with their states: what is read of a folder, and what is found in them, against plain loops."""

from functools import cache

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
from regard import Classifier, LanguageModel, Tagger, Translator
from regard.errors import RegardError
from regard.studio import corpus as module
from regard.studio.corpus import Corpus, Example, read_examples, word_of
from regard.text import FeaturedText

from .conftest import DATA, PAIRS, make_run

KINDS = {"translate": Translator, "lm": LanguageModel, "classify": Classifier, "tag": Tagger}


def whole(predictor, member=None):
    corpus = Corpus(predictor, member)
    corpus.read_on(1e9)
    return corpus


@pytest.fixture(scope="module")
def translator(tmp_path_factory):
    return Translator.load(make_run(tmp_path_factory.mktemp("runs") / "model", "translate"))


@pytest.fixture(scope="module")
def corpus(translator):
    return whole(translator)


@cache
def states(translator, section="decoder", part="state"):
    """The states of every pair as a trace of its own has them."""
    found = {}
    for k, (source, target) in enumerate(PAIRS):
        steps = sorted(translator.trace(source, target)[section].steps, key=lambda step: step.position)
        found[k] = np.stack([step.values[part] for step in steps])
    return found


class TestReading:
    @pytest.mark.parametrize(
        ("name", "text", "reference", "count"),
        [
            ("translate", *PAIRS[0], 24),
            ("lm", PAIRS[0][1], "", 24),
            ("classify", "a clever book .", "good", 12),
            ("tag", "the cat sees .", "DET NOUN VERB PUNCT", 6),
        ],
    )
    def test_every_task_has_sentences_with_states(self, tmp_path, name, text, reference, count):
        predictor = KINDS[name].load(make_run(tmp_path / "run", name))
        label, examples = read_examples(predictor.folder, predictor.task, 1000, ("train", "valid"))
        assert (label, len(examples)) == ("training", count)
        assert examples[0] == Example(text, reference)
        corpus = whole(predictor)
        assert corpus.num_read == count
        section, part = next(iter(corpus._states))
        assert corpus.match(section, part, [0], threshold=-9.0)

    def test_a_step_of_a_decoder_is_called_by_the_word_it_writes(self, translator, corpus):
        assert corpus.words("decoder", 0) == [*PAIRS[0][1].split(), "</s>"]
        assert corpus.words("encoder.backward", 0) == [*PAIRS[0][0].split(), "</s>"]
        section = translator.trace(PAIRS[0][0])["encoder.forward"]
        assert word_of(section, section.steps[0]) == PAIRS[0][0].split()[0]

    def test_a_sample_is_the_same_every_time_and_no_longer_than_wanted(self, translator):
        first, again = (read_examples(translator.folder, "translate", 7, ("train",))[1] for _ in range(2))
        assert first == again
        assert len(first) == 7
        assert len({example.text for example in first}) == 7

    def test_the_second_split_where_the_first_is_not_there(self, tmp_path):
        folder = make_run(tmp_path / "run", "lm")
        options = (folder / "train.toml").read_text()
        (folder / "train.toml").write_text(options.replace(str(folder / "text.txt"), "/none.txt", 1))
        assert read_examples(str(folder), "language_model", 9, ("train", "valid"))[0] == "validation"

    def test_a_demonstration_that_was_moved_is_read_from_its_own_corpus(self, tmp_path):
        folder = make_run(tmp_path / "run", "lm")
        options = (folder / "train.toml").read_text()
        (folder / "train.toml").write_text(options.replace(f"{folder}/", "runs/elsewhere/corpus/"))
        (folder / "corpus").mkdir()
        (folder / "text.txt").rename(folder / "corpus" / "text.txt")
        assert len(read_examples(str(folder), "language_model", 99, ("train",))[1]) == 24

    def test_what_is_not_there_is_said(self, tmp_path, translator):
        folder = make_run(tmp_path / "run", "lm")
        (folder / "text.txt").unlink()
        with pytest.raises(
            RegardError, match=r"not here: .*text\.txt.*start the studio where it was trained"
        ):
            read_examples(str(folder), "language_model", 9, ("train",))
        options = (folder / "train.toml").read_text()
        (folder / "train.toml").write_text(options.replace(f'["{folder / "text.txt"}"]', "[]"))
        with pytest.raises(RegardError, match="from memory"):
            read_examples(str(folder), "language_model", 9, ("train", "valid"))
        (folder / "train.toml").unlink()
        with pytest.raises(RegardError, match=r"no train\.toml"):
            read_examples(str(folder), "language_model", 9, ("train",))
        alone = Translator(translator.model, translator.source_tokenizer, translator.target_tokenizer)
        corpus = whole(alone)
        assert "was not opened from a folder" in corpus.problem
        assert (corpus.is_whole, corpus.match("decoder", "state", [0], threshold=0.1)) == (True, [])

    def test_a_device_is_not_read(self, tmp_path):
        folder = make_run(tmp_path / "run", "lm")
        options = (folder / "train.toml").read_text()
        (folder / "train.toml").write_text(options.replace(str(folder / "text.txt"), "/dev/zero"))
        with pytest.raises(RegardError, match="not here: /dev/zero"):
            read_examples(str(folder), "language_model", 9, ("train",))

    def test_a_call_reads_for_a_bounded_time(self, translator):
        corpus = Corpus(translator)
        corpus.read_on(0.0)
        assert corpus.num_read == 1
        assert not corpus.is_whole

    def test_memory_is_bounded(self, translator, monkeypatch):
        monkeypatch.setattr(module, "MOST_BYTES", 10_000)
        corpus = whole(translator)
        assert 1 < corpus.num_read < len(PAIRS)
        assert corpus.is_whole
        kept = sum(rows.nbytes for known in corpus._states.values() for rows in known.values())
        assert kept <= 10_000 + 5_000

    def test_a_line_that_cannot_be_read_is_left_out(self, tmp_path, monkeypatch):
        monkeypatch.setitem(DATA, "lm", {"text.txt": ["the dog sleeps .", "x" * 501, " ", "the cat runs ."]})
        corpus = whole(LanguageModel.load(make_run(tmp_path / "run", "lm")))
        assert [example.text for example in corpus.examples] == ["the dog sleeps .", "the cat runs ."]

    def test_what_a_person_would_type(self):
        assert Example(("one", "two"), "").text == "one | two"
        assert Example(FeaturedText("run", ("V", "PST")), "").text == "run\tV;PST"


class TestSearch:
    @pytest.mark.parametrize("below", [False, True])
    @pytest.mark.parametrize("edges", [False, True])
    @pytest.mark.parametrize("length", [1, 2, 3])
    def test_the_best_window_of_each_sentence(self, translator, corpus, length, edges, below):
        units, threshold = {1, 4, 6}, 0.05
        wanted = []
        for k, rows in states(translator).items():
            best = 0.0, 0
            for first in range(len(rows) - length + 1):
                on = set()
                for unit in range(rows.shape[1]):
                    value = -rows[:, unit] if below else rows[:, unit]
                    inside = all(value[first : first + length] >= threshold)
                    outside = [t for t in (first - 1, first + length) if 0 <= t < len(rows)]
                    if inside and not (edges and any(value[t] >= threshold for t in outside)):
                        on.add(unit)
                share = len(on & units) / len(on | units)
                best = max(best, (share, -first))
            if best[0]:
                wanted.append((k, -best[1], -best[1] + length - 1, best[0]))
        wanted.sort(key=lambda each: -each[3])
        found = corpus.match(
            "decoder",
            "state",
            sorted(units),
            threshold=threshold,
            below=below,
            length=length,
            edges=edges,
            count=99,
        )
        assert len(wanted) > 3
        assert [tuple(place) for place, _ in found] == [pytest.approx(each) for each in wanted]
        for place, active in found:
            rows = states(translator)[place.sentence][:, sorted(units)]
            assert active == ((-rows if below else rows) >= threshold).sum(1).tolist()

    def test_the_text_itself_is_left_out_and_only_so_many_are_given(self, corpus):
        found = corpus.match("decoder", "state", [0], threshold=-9.0, count=5, text=PAIRS[0][0])
        assert len(found) == 5
        assert 0 not in [place.sentence for place, _ in found]
        near = corpus.nearest("decoder", "state", [0.1] * 8, whole=False, text=PAIRS[0][0], count=99)
        assert len(near) == 23
        assert 0 not in [place.sentence for place in near]

    def test_units_alike_are_those_that_correlate(self, translator, corpus):
        rows = np.concatenate(list(states(translator).values()))
        given = rows[:, [2, 5]].mean(1)
        wanted = {k: np.corrcoef(given, rows[:, k])[0, 1] for k in range(rows.shape[1]) if k not in (2, 5)}
        order = sorted(wanted, key=lambda k: -abs(wanted[k]))[:3]
        found = corpus.alike("decoder", "state", [2, 5], 3)
        assert [unit for unit, _ in found] == order
        assert [value for _, value in found] == pytest.approx([wanted[k] for k in order], abs=0.01)

    @pytest.mark.parametrize("whole", [False, True])
    def test_the_nearest_states_and_sentences(self, translator, corpus, whole):
        given = np.linspace(-1, 1, 12)
        known = states(translator, "annotations", "annotation")
        best = {}
        for k, rows in known.items():
            compared = rows.mean(0, keepdims=True) if whole else rows
            best[k] = max(each @ given / np.linalg.norm(each) / np.linalg.norm(given) for each in compared)
        order = sorted(best, key=lambda k: -best[k])[:4]
        found = corpus.nearest("annotations", "annotation", given.tolist(), whole=whole, count=4)
        assert [place.value for place in found] == pytest.approx([best[k] for k in order], abs=0.002)
        assert (found[0].first, found[0].last) == (0, len(known[found[0].sentence]) - 1) or not whole

    def test_components_are_those_of_the_singular_values(self, translator, corpus):
        rows = np.concatenate(list(states(translator).values()))
        _, values, axes = np.linalg.svd(rows - rows.mean(0), full_matrices=False)
        found = corpus.components("decoder", "state")
        assert found.shares == pytest.approx((values**2 / (values**2).sum())[:2].tolist(), abs=0.002)
        assert abs(np.sum(found.axes * axes[:2], axis=1)) == pytest.approx([1, 1], abs=0.01)
        points = corpus.points("decoder", "state", found, 10)
        assert len(points) <= 10
        place, where = points[1]
        own = states(translator)[place.sentence][place.first]
        assert where == pytest.approx(((own - found.mean) @ found.axes.T).tolist(), abs=0.02)

    def test_what_is_not_there(self, corpus):
        with pytest.raises(RegardError, match=r"no part 'stat' of 'decoder'; did you mean 'decoder state'"):
            corpus.match("decoder", "stat", [0], threshold=0.1)
        with pytest.raises(RegardError, match="unit 8: state of decoder has 8 units"):
            corpus.match("decoder", "state", [8], threshold=0.1)
        with pytest.raises(RegardError, match="3 numbers for state of decoder, which has 8 units"):
            corpus.nearest("decoder", "state", [1.0, 2.0, 3.0], whole=False)
