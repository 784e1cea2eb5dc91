import pytest
from benchmarks.settings import task_of
from benchmarks.stages import AFTER, PARTS, Stages, stages_of, stages_section


@pytest.fixture
def found(toy):
    return {f"toy, {decoder}": stages_of(toy.to_json(), decoder) for decoder in ("luong", "bahdanau")}


def test_every_stage_is_seen_and_together_they_are_the_update(found):
    for name, row in found.items():
        seconds = row["seconds"]
        parts = [part for part in PARTS if part != "readout" or name == "toy, bahdanau"]
        assert set(seconds) == {*parts, *(f"backward of {part}" for part in parts), *AFTER, "rest"}
        assert all(seconds[part] > 0 for part in (*parts, *AFTER))
        assert all(seconds[f"backward of {part}"] > 0 for part in parts)
        assert abs(seconds["rest"]) < 0.5 * sum(seconds.values())
        assert row["input"]["tokenising"] > 0
        assert row["input"]["batching"] > 0


def test_the_section_has_shares_of_a_whole(found):
    section = stages_section(found)
    assert [table.caption for table in section.tables] == [f"{name}: milliseconds a stage." for name in found]
    for table in section.tables:
        shares = [float(row[-1].rstrip("%")) for row in table.rows if not row[0].startswith("beside")]
        assert sum(shares[:-1]) == pytest.approx(100, abs=1)
        assert shares[-1] == 100


def test_seconds_lie_between_the_right_stamps(toy):
    ticks = iter(range(1000))
    stages = Stages(task_of(toy, "bahdanau").build(), clock=lambda: next(ticks))
    stages.forward = {
        "decoder": 50.0,
        "target embedding": 5,
        "readout": 7,
        "source embedding": 1,
        "encoder": 2,
        "keys": 3,
    }
    stages._opened = {"decoder": 10.0, "backward": 70.0}
    stages._readouts = 1
    stages._backward = [
        ("output and loss", 75.0),
        ("readout", 78),
        ("recurrence", 90),
        ("target embedding", 91),
    ]
    stages._backward += [("keys", 94), ("encoder", 99)]
    stages.after = {"backward": 30.0, "clipping": 2, "optimizer": 4}
    told = stages.told(120.0)
    assert told["recurrence"] == 50 - 5 - 7
    assert told["output and loss"] == 70 - 10 - 50
    backward = {
        name.removeprefix("backward of "): value for name, value in told.items() if "backward" in name
    }
    assert backward == {
        "output and loss": 5,
        "readout": 3,
        "recurrence": 12,
        "target embedding": 1,
        "keys": 3,
        "encoder": 5,
        "source embedding": 1,
    }
    assert sum(told.values()) == 120
    stages._readouts = 3
    inside = stages.told(120.0)
    assert "readout" not in inside
    assert inside["recurrence"] == 45
    assert inside["backward of recurrence"] == 15
    assert sum(inside.values()) == 120


def test_nothing_is_left_on_what_was_watched(toy):
    from regard.training.fabric import build_fabric

    task = task_of(toy, "luong")
    model = task.build()
    fabric = build_fabric(task.config.training)
    import torch

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Stages(model).watching(fabric, optimizer):
        assert "keys" in vars(model.decoder.attention)
        assert model.decoder._forward_hooks
    assert "keys" not in vars(model.decoder.attention)
    assert "backward" not in vars(fabric)
    assert not model.decoder._forward_hooks
