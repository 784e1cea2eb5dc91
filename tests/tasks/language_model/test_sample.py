import json
import math

import pytest

from regard.errors import DataError
from regard.tasks.language_model.result import Candidate, Sample, SampleStep

CAT, DOG, BIRD = Candidate("cat", 0.3, 0.4), Candidate("dog", 0.5, 0.6), Candidate("bird", 0.2, 0.0)
END = Candidate("</s>", 0.8, 1.0)


def make(**changes):
    fields = {
        "text": "the cat",
        "prompt": "the",
        "tokens": ("cat", "</s>"),
        "token_log_probs": (math.log(0.3), math.log(0.8)),
        "steps": (SampleStep(CAT, (BIRD, DOG)), SampleStep(END, ())),
    }
    return Sample(**{**fields, **changes})


def test_candidates_are_ranked_by_what_was_drawn_from():
    step = make().steps[0]
    assert step.ranked(5) == (DOG, CAT, BIRD)
    assert step.ranked(2) == (DOG, CAT)
    likelier = Candidate("emu", 0.9, 0.1)  # to the model, but not as it was drawn from
    assert SampleStep(CAT, (likelier,)).ranked(2) == (CAT, likelier)


def test_the_chosen_one_is_always_among_them():
    assert SampleStep(BIRD, (CAT, DOG)).ranked(2) == (DOG, BIRD)
    assert SampleStep(BIRD, (CAT, DOG)).ranked(1) == (BIRD,)


def test_among_those_cut_off_the_models_own_decides():
    rare = Candidate("emu", 0.1, 0.0)
    assert SampleStep(DOG, (rare, BIRD)).ranked(3) == (DOG, BIRD, rare)


def test_log_prob_is_the_models():
    assert make().log_prob == pytest.approx(math.log(0.3 * 0.8))
    assert str(make()) == "the cat"


def test_json_says_whose_probability_is_whose():
    written = make().to_json()
    assert json.loads(json.dumps(written, allow_nan=False)) == written
    assert written["steps"][0] == {
        "token": "cat",
        "model_probability": 0.3,
        "sampling_probability": 0.4,
        "alternatives": [BIRD.to_json(), DOG.to_json()],
    }
    assert set(written) == {"text", "prompt", "tokens", "log_prob", "token_log_probs", "steps"}


def test_plot_writes_every_candidate(tmp_path):
    path = tmp_path / "growth.svg"
    make().plot(path, title="Pets")
    written = path.read_text()
    for text in ("Pets", "the", "cat", "dog", "bird", "40", "60"):
        assert f">{text}</text>" in written


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"token_log_probs": (-1.0,)}, "sample 'the cat': 1 token_log_probs for 2 tokens"),
        ({"steps": ()}, "0 steps for 2 tokens"),
        ({"tokens": ("dog", "</s>")}, "step 0 chose 'cat', but token 0 is 'dog'"),
    ],
)
def test_what_does_not_fit(changes, message):
    with pytest.raises(DataError, match=message):
        make(**changes)


def test_a_notebook_shows_each_step_with_its_alternatives():
    page = make()._repr_html_()
    assert page.count("<tr>") == 3
    assert ">dog 60.0 %  bird 0.0 %<" in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "&lt;/s&gt;" in page


def test_json_is_read_back():
    assert Sample.from_json(json.loads(json.dumps(make().to_json()))) == make()
