from regard.datasets import Language, Microworld
from regard.datasets.dataset import Example


def test_the_lines_are_the_english_sides_of_the_microworld():
    sizes = {"train": 200, "valid": 20, "test": 20, "seed": 4, "shortest": 4, "longest": 9}
    lines, pairs = Language().splits(**sizes), Microworld().splits(**sizes)
    assert lines.train == [Example(pair.source) for pair in pairs.train]
    assert lines.valid == [Example(pair.source) for pair in pairs.valid]
    assert lines.test == [Example(pair.source) for pair in pairs.test]
    assert set(lines.extra) == {"long", "unseen"}
    for name, part in lines.extra.items():
        assert part == [Example(pair.source) for pair in pairs.extra[name]]
    assert {len(line.source.split()) for line in lines.extra["long"]} <= set(range(10, 19))
