import pytest
from benchmarks.breakdown import AFTER, PARTS, UpdateTimer, breakdown_section, measure
from benchmarks.settings import build_task


@pytest.fixture
def results(toy):
    return {f"toy, {decoder}": measure(toy.to_json(), decoder) for decoder in ("luong", "bahdanau")}


def test_every_part_is_timed_and_together_they_are_the_update(results):
    for name, row in results.items():
        seconds = row["seconds"]
        parts = [part for part in PARTS if part != "readout" or name == "toy, bahdanau"]
        assert set(seconds) == {*parts, *(f"backward of {part}" for part in parts), *AFTER, "rest"}
        assert all(seconds[part] > 0 for part in (*parts, *AFTER))
        assert all(seconds[f"backward of {part}"] > 0 for part in parts)
        assert abs(seconds["rest"]) < 0.5 * sum(seconds.values())
        assert row["input"]["tokenising"] > 0
        assert row["input"]["batching"] > 0


def test_the_section_has_fractions_of_the_total(results):
    section = breakdown_section(results)
    assert [table.caption for table in section.tables] == [
        f"{name}: milliseconds per part." for name in results
    ]
    for table in section.tables:
        ratios = [float(row[-1].rstrip("%")) for row in table.rows if not row[0].startswith("besides")]
        assert sum(ratios[:-1]) == pytest.approx(100, abs=1)
        assert ratios[-1] == 100


def test_durations_are_differences_of_the_right_times(toy):
    ticks = iter(range(1000))
    timer = UpdateTimer(build_task(toy, "bahdanau").build(), clock=lambda: next(ticks))
    timer.forward = {
        "decoder": 50.0,
        "target embedding": 5,
        "readout": 7,
        "source embedding": 1,
        "encoder": 2,
        "keys": 3,
    }
    timer._started = {"decoder": 10.0, "backward": 70.0}
    timer._num_readouts = 1
    timer._backward = [
        ("output and loss", 75.0),
        ("readout", 78),
        ("recurrence", 90),
        ("target embedding", 91),
    ]
    timer._backward += [("keys", 94), ("encoder", 99)]
    timer.after = {"backward": 30.0, "clipping": 2, "optimizer": 4}
    durations = timer.durations(120.0)
    assert durations["recurrence"] == 50 - 5 - 7
    assert durations["output and loss"] == 70 - 10 - 50
    backward = {
        name.removeprefix("backward of "): value for name, value in durations.items() if "backward" in name
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
    assert sum(durations.values()) == 120
    timer._num_readouts = 3
    in_loop = timer.durations(120.0)
    assert "readout" not in in_loop
    assert in_loop["recurrence"] == 45
    assert in_loop["backward of recurrence"] == 15
    assert sum(in_loop.values()) == 120


def test_the_hooks_are_removed(toy):
    from regard.training.fabric import build_fabric

    task = build_task(toy, "luong")
    model = task.build()
    fabric = build_fabric(task.config.training)
    import torch

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with UpdateTimer(model).attached(fabric, optimizer):
        assert "keys" in vars(model.decoder.attention)
        assert model.decoder._forward_hooks
    assert "keys" not in vars(model.decoder.attention)
    assert "backward" not in vars(fabric)
    assert not model.decoder._forward_hooks
