import pytest
from rich.cells import cell_len

from regard.plots.terminal.sample import TerminalSample, TerminalSampleHeading, TerminalSampleStep
from regard.tasks.language_model.result import Candidate, Sample, SampleStep

STEP = SampleStep(
    Candidate("cat", 0.3, 0.45),
    (Candidate("bird", 0.05, 0.0), Candidate("dog", 0.4, 0.5), Candidate("図書館", 0.04, 0.05)),
)
SAMPLE = Sample("the cat", "the", ("cat",), (-1.2,), (STEP,))


def test_one_step_is_one_line(plain):
    assert plain(TerminalSampleStep(3, STEP)) == [
        "  3  cat              ████▌          45       30   dog 50  図書館 5.0  bird 0"
    ]
    plainest = SampleStep(STEP.chosen, STEP.alternatives[:2])
    assert plain(TerminalSampleStep(3, plainest), encoding="ascii") == [
        "  3  cat              ####           45       30   dog 50  bird 0"
    ]


def test_a_whole_sample_is_its_heading_and_its_steps(plain):
    whole = plain(TerminalSample(SAMPLE))
    assert whole == [*plain(TerminalSampleHeading()), *plain(TerminalSampleStep(1, STEP))]
    heading, line = whole
    assert heading.index("sampled") == line.index("cat")
    assert heading.index("p %") + 3 == line.index("45") + 2
    assert heading.index("model %") + 7 == line.index("30") + 2
    assert heading.index("alternatives") == line.index("dog")


def test_the_number_of_alternatives_is_limited(plain):
    assert plain(TerminalSampleStep(1, STEP, most=1))[0].endswith("30   dog 50")
    assert plain(TerminalSample(SAMPLE, most=1))[1].endswith("30   dog 50")
    assert plain(TerminalSampleStep(1, STEP, most=0))[0].endswith("30")


@pytest.mark.parametrize("width", [20, 50, 60, 80])
def test_no_line_is_too_wide_and_no_alternative_is_cut_in_two(plain, width):
    long = SampleStep(Candidate("x" * 40, 0.5, 1.0), (Candidate("y" * 12, 0.2, 0.0), *STEP.alternatives))
    for line in (*plain(TerminalSampleStep(12, long), width), *plain(TerminalSampleHeading(), width)):
        assert cell_len(line) <= width
    assert len(plain(TerminalSampleStep(12, long), width)) == 1
    if width >= 60:
        assert all(
            len(form.split()) == 2
            for form in plain(TerminalSampleStep(1, STEP), width)[0][48:].split("  ")
            if form
        )


def test_what_cannot_be_printed_is_marked(plain):
    line = plain(TerminalSampleStep(1, SampleStep(Candidate("\n\x1b[2J", 0.5, 1.0), ())))[0]
    assert "\x1b" not in line
    assert "\N{REPLACEMENT CHARACTER}" in line
    assert "██████████    100" in line
