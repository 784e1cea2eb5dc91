import ast
import errno
import json
import os
import resource
import shutil
import signal
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import safetensors.torch
import torch

import regard
from regard import io as whole_file
from regard.batches import pad_pairs
from regard.checkpoint import FORMAT, MIGRATIONS, ModelFolder, read_log
from regard.errors import CheckpointError, ConfigError, DataError, FolderError
from regard.models import ModelConfig, Seq2Seq
from regard.tasks.translate.predictor import Translator
from regard.tensors import write_tensors
from regard.text import train_tokenizer
from regard.text.pairs import EncodedPair

WORDS = {"source": "a b c d e", "target": "A B C D"}
LINES = ["a b c", "e", "d d d d", "", "b unknown a"]

KINDS = {
    "bahdanau": {},
    "luong": {"input_feeding": True},
    "luong without input feeding": {"input_feeding": False, "attention": {"energy": "dot"}},
    "cho": {},
    "sutskever": {},
}


def config(name="bahdanau", tie="none", **options):
    """A model of a few units: state and annotations 4 wide, so that any decoder may follow."""
    kind = name.split()[0]
    stack = {"embedding_size": 4, "state_size": 2, "num_layers": 2}
    decoder = {**stack, "kind": kind, "state_size": 4, **KINDS[name], **options}
    if kind != "sutskever":
        decoder["readout_size"] = 4
    return ModelConfig.from_mapping({"encoder": stack, "decoder": decoder, "tie": tie}, "model")


def tokenizers(tie="none"):
    if tie == "all":
        both = train_tokenizer("word", [*WORDS.values()], size=20)
        return both, both
    return train_tokenizer("word", [WORDS["source"]], size=20), train_tokenizer(
        "word", [WORDS["target"]], size=20
    )


def create(folder, model_config, pair):
    """Write a translator's folder."""
    both = dict(zip(("source", "target"), pair, strict=True))
    sizes = {side: tokenizer.size for side, tokenizer in both.items()}
    folder.create("translate", model_config, both, sizes=sizes)


def make(path, name="bahdanau", tie="none", seed=1, **options):
    """A folder with a random model in it, and that model."""
    torch.manual_seed(seed)
    model_config, pair = config(name, tie, **options), tokenizers(tie)
    model = Seq2Seq(model_config, pair[0].size, pair[1].size).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    folder = ModelFolder(path)
    create(folder, model_config, pair)
    folder.write_weights("best", model, {"update": 7, "bleu": 12.5})
    return folder, model


def captioned(folder, **changes):
    """Change what regard.json says."""
    path = folder.path / "regard.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("tie", ["none", "target", "all"])
def test_saved_and_loaded_is_equal(tmp_path, name, tie):
    folder, model = make(tmp_path / "model", name, tie)
    loaded = folder.load()
    assert loaded.facts == {"update": 7, "bleu": 12.5}
    assert loaded.model.config == model.config
    assert not loaded.model.training
    ours, theirs = model.state_dict(), loaded.model.state_dict()
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    shared = loaded.model.decoder.output.W_o is loaded.model.decoder.embedding.E
    assert shared == (tie != "none")
    assert (loaded.model.encoder.embedding.E is loaded.model.decoder.embedding.E) == (tie == "all")
    before = Translator(model, *tokenizers(tie)).translate(LINES, beam=3, n_best=3)
    after = Translator.load(tmp_path / "model").translate(LINES, beam=3, n_best=3)
    for one, other in zip(before, after, strict=True):
        assert one.to_json() == other.to_json()
    assert any(translation.text for translation in before)


def test_every_legal_model_gives_equal_logits_when_loaded(tmp_path, grid_options, tiny_model):
    pair = tokenizers()
    model = tiny_model(**grid_options, target_size=pair[1].size).float()
    folder = ModelFolder(tmp_path)
    create(folder, model.config, pair)
    folder.write_weights("last", model, {})
    loaded = folder.load("last").model
    assert loaded.config == model.config
    batch = pad_pairs([EncodedPair([4, 5, 6], [5, 4]), EncodedPair([], [7])])
    with torch.no_grad():
        ours, theirs = model(batch), loaded(batch)
    assert torch.equal(ours.logits, theirs.logits)
    assert (ours.alpha is None) == (theirs.alpha is None)
    assert ours.alpha is None or torch.equal(ours.alpha[batch.target_mask], theirs.alpha[batch.target_mask])


def test_best_and_last_are_two_files(tmp_path):
    folder, model = make(tmp_path)
    _, other = make(tmp_path / "other", seed=2)
    folder.write_weights("last", other, {"update": 9})
    assert torch.equal(folder.load("best").model.decoder.C, model.decoder.C)
    assert torch.equal(folder.load("last").model.decoder.C, other.decoder.C)
    assert Translator.load(tmp_path, weights="last").facts == {"update": 9}


def test_a_shared_matrix_is_written_once(tmp_path):
    _, model = make(tmp_path, tie="all")
    stored = safetensors.torch.load_file(tmp_path / "best.safetensors")
    assert sum(tensor.numel() for tensor in stored.values()) == model.num_parameters


def test_the_folder_is_plain_files(tmp_path):
    make(tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"regard.json", "source.tokenizer.json", "target.tokenizer.json", "best.safetensors"}
    description = json.loads((tmp_path / "regard.json").read_text(encoding="utf-8"))
    assert (description["format"], description["task"]) == (FORMAT, "translate")


class TestWhatCannotBeLoaded:
    """Each message names the file, or the folder where a file is missing, and what to do."""

    def fails(self, folder, *parts, weights="best"):
        with pytest.raises(FolderError) as caught:
            folder.load(weights)
        message = str(caught.value)
        for part in parts:
            assert part in message
        return message

    def test_no_folder(self, tmp_path):
        self.fails(ModelFolder(tmp_path / "none"), "none: no such model folder", "`regard train` makes one")

    def test_a_file(self, tmp_path):
        (tmp_path / "file").touch()
        self.fails(ModelFolder(tmp_path / "file"), "file: no such model folder")

    def test_a_foreign_folder(self, tmp_path):
        (tmp_path / "config.json").write_text("{}")
        self.fails(
            ModelFolder(tmp_path), str(tmp_path), "no regard.json", "name one that `regard train` made"
        )

    @pytest.mark.parametrize(
        "text", ["", "{", '{"format": 1', "\xff", "[1, 2]", '"format"', '{"format": "1"}']
    )
    def test_damaged_json(self, tmp_path, text):
        folder, _ = make(tmp_path)
        (tmp_path / "regard.json").write_bytes(text.encode("latin-1"))
        self.fails(folder, "regard.json:", "train")

    def test_json_of_something_else(self, tmp_path):
        folder, _ = make(tmp_path)
        (tmp_path / "regard.json").write_text('{"name": "left-pad"}')
        self.fails(folder, "regard.json: it has no format number")

    def test_an_older_format(self, tmp_path):
        folder, _ = make(tmp_path)
        captioned(folder, format=min(MIGRATIONS) - 1)
        self.fails(folder, "regard.json", f"written in format {min(MIGRATIONS) - 1}", "train the model again")

    def test_a_newer_format(self, tmp_path):
        folder, _ = make(tmp_path)
        captioned(folder, format=FORMAT + 1, regard="9.1")
        self.fails(folder, "regard.json", f"format {FORMAT + 1} by Regard 9.1", "upgrade")

    def test_another_task(self, tmp_path):
        folder, _ = make(tmp_path)
        captioned(folder, task="count")
        self.fails(folder, "regard.json", "no task 'count'", "copy or train the model again")
        captioned(folder, task="tag")
        with pytest.raises(FolderError, match="a model for tagging; name one for translating"):
            folder.load(task="translate")

    @pytest.mark.parametrize(
        "model",
        [
            None,
            5,
            [],
            "model",
            {"encoder": 3},
            {"decoder": {"kind": "transformer"}},
            {"encodr": {}},
            {"tie": "all"},  # with vocabularies of different sizes
        ],
    )
    def test_an_impossible_model(self, tmp_path, model):
        folder, _ = make(tmp_path)
        captioned(folder, model=model)
        self.fails(folder, "regard.json: damaged", "copy or train the model again")

    def test_a_model_that_is_not_described(self, tmp_path):
        folder, _ = make(tmp_path)
        path = tmp_path / "regard.json"
        description = json.loads(path.read_text())
        del description["model"]
        path.write_text(json.dumps(description))
        self.fails(folder, "regard.json: damaged", "'model'")

    @pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
    def test_truncated_weights(self, tmp_path, share):
        folder, _ = make(tmp_path)
        path = tmp_path / "best.safetensors"
        content = path.read_bytes()
        path.write_bytes(content[: int(share * len(content))])
        self.fails(folder, "best.safetensors: damaged", "copy or train it again")

    def test_one_byte_is_missing(self, tmp_path):
        folder, _ = make(tmp_path)
        path = tmp_path / "best.safetensors"
        path.write_bytes(path.read_bytes()[:-1])
        self.fails(folder, "best.safetensors: damaged")

    @pytest.mark.parametrize("damage", ["one bit", "zeros", "a fact"])
    def test_damage_that_leaves_the_file_readable(self, tmp_path, damage):
        folder, _ = make(tmp_path)
        path = tmp_path / "best.safetensors"
        content = bytearray(path.read_bytes())
        if damage == "one bit":
            content[-5] ^= 1
        elif damage == "zeros":
            content[-64:] = bytes(64)
        else:
            old, new = b'\\"update\\": 7', b'\\"update\\": 8'
            assert content.count(old) >= 1
            content = content.replace(old, new)
        path.write_bytes(content)
        safetensors.torch.load_file(path)  # which sees nothing
        self.fails(folder, "best.safetensors: damaged: its content is not what its checksum", "copy or train")

    @pytest.mark.parametrize(
        ("old", "new"), [(b'"shape":[9,4]', b'"shape":[4,9]'), (b'"decoder.C"', b'"decoder.D"')]
    )
    def test_another_shape_or_name(self, tmp_path, old, new):
        folder, _ = make(tmp_path)
        path = tmp_path / "best.safetensors"
        assert path.read_bytes().count(old) >= 1
        path.write_bytes(path.read_bytes().replace(old, new))
        self.fails(folder, "best.safetensors: the weights do not fit regard.json")

    def test_a_checksum_that_is_missing(self, tmp_path):
        folder, _ = make(tmp_path)
        path = tmp_path / "best.safetensors"
        tensors = safetensors.torch.load_file(path)
        safetensors.torch.save_file(tensors, path, {"facts": "{}"})
        self.fails(folder, "best.safetensors: damaged: its content is not what its checksum")
        captioned(folder, format=3)  # whose weights had none
        folder.load()

    @pytest.mark.parametrize("name", ["luong", "bahdanau"])
    def test_weights_of_another_model(self, tmp_path, name):
        folder, _ = make(tmp_path / "one")
        make(tmp_path / "other", name, attention={"size": 3})
        shutil.copy(tmp_path / "other" / "best.safetensors", tmp_path / "one")
        self.fails(folder, "best.safetensors", "do not fit regard.json", "copy the whole folder again")

    def test_no_weights_yet(self, tmp_path):
        folder, model = make(tmp_path)
        (tmp_path / "best.safetensors").unlink()
        self.fails(folder, "best.safetensors: no such weights; the training has saved none yet")
        folder.write_weights("last", model, {})
        self.fails(folder, "best.safetensors: no such weights; there are weights named 'last'")

    def test_no_such_name_of_weights(self, tmp_path):
        folder, _ = make(tmp_path)
        with pytest.raises(ConfigError, match="no 'lst'; did you mean 'last'"):
            folder.load("lst")

    @pytest.mark.parametrize("side", ["source", "target"])
    def test_no_tokenizer(self, tmp_path, side):
        folder, _ = make(tmp_path)
        (tmp_path / f"{side}.tokenizer.json").unlink()
        self.fails(folder, f"{side}.tokenizer.json")

    def test_swapped_tokenizers(self, tmp_path):
        folder, _ = make(tmp_path)
        source, target = tmp_path / "source.tokenizer.json", tmp_path / "target.tokenizer.json"
        source.rename(tmp_path / "aside")
        target.rename(source)
        (tmp_path / "aside").rename(target)
        self.fails(folder, "source.tokenizer.json", "8 tokens", "made for 9", "copy the whole folder again")

    def test_a_tokenizer_of_the_same_size(self, tmp_path):
        """Its ids would mean other words, and every translation be nonsense."""
        folder, _ = make(tmp_path)
        train_tokenizer("word", ["v w x y z"], size=20).save(tmp_path / "source.tokenizer.json")
        self.fails(folder, "source.tokenizer.json: not the tokenizer this model was trained with")


def files(path):
    return {each.name: each.read_bytes() for each in path.iterdir()}


class TestACheckpointThatCannotBeWritten:
    def survives(self, folder, before, write):
        with pytest.raises(CheckpointError) as caught:
            write()
        assert "best.safetensors: cannot be written" in str(caught.value)
        assert "an earlier one, if there is one, is untouched" in str(caught.value)
        assert files(folder.path) == before
        assert folder.load().facts == {"update": 7, "bleu": 12.5}

    def test_a_full_disk(self, tmp_path):
        """The real thing as far as a process can have it: the kernel refuses to let the file grow."""
        folder, model = make(tmp_path)
        before = files(tmp_path)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
        try:
            self.survives(folder, before, lambda: folder.write_weights("best", model, {"update": 8}))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)

    @pytest.mark.parametrize("call", ["fsync", "replace"])
    def test_an_error_at_the_end(self, tmp_path, monkeypatch, call):
        folder, model = make(tmp_path)
        before = files(tmp_path)

        def full(*args):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(whole_file.os, call, full)
        self.survives(folder, before, lambda: folder.write_weights("best", model, {"update": 8}))

    def test_a_folder_that_cannot_be_made(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(DataError, match=r"file/model: cannot be made .* choose another folder"):
            make(tmp_path / "file" / "model")


def met(path):
    """The modules a file imports, and what it takes from torch itself."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


def test_nothing_is_pickled():
    """Loading a stranger's folder must never run the stranger's code."""
    wrong = {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal", "torch.load", "torch.save"}
    modules = sorted(Path(regard.__file__).parent.rglob("*.py"))
    assert len(modules) > 50
    assert {str(path): wrong & set(met(path)) for path in modules if wrong & set(met(path))} == {}


def forged(folder, *path, value):
    """Change one value of regard.json."""
    file = folder.path / "regard.json"
    description = json.loads(file.read_text())
    table = description
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    file.write_text(json.dumps(description))


@contextmanager
def within_limits(seconds=20, megabytes=500):
    """Fail where the content takes longer, or needs more memory than that."""
    started = time.perf_counter()
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limits = resource.getrlimit(resource.RLIMIT_AS)
    most = pages * resource.getpagesize() + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert time.perf_counter() - started < seconds


SIZES = {
    "a readout of a million units": (
        ("model", "decoder", "readout_size"),
        1_000_000,
        r"readout_size: 1000000 is out",
    ),
    "a legal but wrong readout": (("model", "decoder", "readout_size"), 60_000, "do not fit regard.json"),
    "twenty thousand layers": (
        ("model", "encoder", "num_layers"),
        20_000,
        "num_layers: 20000 is out of range",
    ),
    "a legal but wrong number of layers": (("model", "encoder", "num_layers"), 100, "do not fit regard.json"),
    "a vocabulary without bound": (("sizes", "target"), 2**40, "the size 'target' is 1099511627776"),
    "a vocabulary that is a text": (("sizes", "target"), "8", "the size 'target' is '8'"),
    "sizes that are a list": (("sizes",), [8, 8], r"the sizes are \[8, 8\]"),
    "a task that is a list": (("task",), ["translate"], r"no task \['translate'\]"),
    "a model that is a number": (("model",), 3, "damaged"),
    "an option that is a table": (
        ("model", "decoder", "readout_size"),
        {},
        "expected a whole number, got {}",
    ),
    "an infinite dropout": (
        ("model", "decoder", "dropout"),
        float("inf"),
        "inf is not a number that can be used",
    ),
    "checksums that are a list": (("checksums",), [], r"damaged: its checksums are \[\]"),
    "labels without a classifier": (("labels",), ["a"], "1 labels, 1 of them different, for a model of 0"),
}


@pytest.mark.parametrize("case", SIZES)
def test_a_forged_description_is_refused_before_anything_is_built(tmp_path, case):
    path, value, message = SIZES[case]
    folder, _ = make(tmp_path)
    forged(folder, *path, value=value)
    with pytest.raises(FolderError, match=message), within_limits():
        folder.load()


@pytest.mark.parametrize("checksums", [None, [], {}, {"source": 1}])
def test_tokenizers_are_read_only_if_they_are_those_of_the_model(tmp_path, checksums):
    folder, _ = make(tmp_path)
    assert folder.tokenizers.keys() == {"source", "target"}
    forged(folder, "checksums", value=checksums)
    with pytest.raises(
        FolderError, match=r"damaged: its checksums|not the tokenizer this model was trained with"
    ):
        folder.tokenizers  # noqa: B018


@pytest.mark.parametrize("name", ["regard.json", "source.tokenizer.json", "best.safetensors"])
@pytest.mark.parametrize("other", ["fifo", "device", "folder", "sparse"])
def test_something_else_in_place_of_a_file_is_refused(tmp_path, name, other):
    folder, _ = make(tmp_path)
    path = folder.path / name
    path.unlink()
    if other == "fifo":
        os.mkfifo(path)
    elif other == "device":
        path.symlink_to("/dev/zero")
    elif other == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(1 << 36)
    with (
        pytest.raises(FolderError, match=f"{name}: .*(ordinary file|more than|a header of 0 bytes)"),
        within_limits(),
    ):
        folder.load()


def test_deep_json_is_a_damaged_folder(tmp_path):
    folder, _ = make(tmp_path)
    (tmp_path / "regard.json").write_text('{"format":' * 100_000)
    with pytest.raises(FolderError, match=r"regard.json: damaged: nested too deeply; copy or train"):
        folder.load()


@pytest.mark.parametrize("name", ["../other", "/tmp", "", ".", "..", "a/b", "a", "x" * 256])
def test_members_of_an_ensemble_are_different_folders_inside_it(tmp_path, name):
    folder = ModelFolder(tmp_path)
    folder.create_ensemble("translate", [name, "a"])
    with pytest.raises(FolderError, match="the ensemble's members are"):
        folder.members  # noqa: B018


def test_facts_that_are_not_an_object_are_refused(tmp_path):
    folder, model = make(tmp_path)
    content = safetensors.torch.save(dict(model.named_parameters()), {"facts": "[1]"})
    (tmp_path / "best.safetensors").write_bytes(content)
    with pytest.raises(FolderError, match=r"best.safetensors: damaged: its facts are \[1\]"):
        folder.load()


def test_a_forged_log_loses_the_forged_rows_alone(tmp_path):
    row = {"event": "validation", "update": 3, "loss": 1.5}
    wrong = [[], 3, {"event": 3, "update": 3}, {"event": "train", "update": "3"}, {"update": 4}]
    lines = [*map(json.dumps, wrong), "[" * 50_000, json.dumps(row), '{"event": "tra']
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    assert read_log(tmp_path) == [row]
    (tmp_path / "log.jsonl").unlink()
    os.mkfifo(tmp_path / "log.jsonl")
    with pytest.raises(FolderError, match=r"cannot be read .not an ordinary file"):
        read_log(tmp_path)


def test_weights_that_are_not_numbers_of_that_kind_are_refused(tmp_path):
    folder, model = make(tmp_path)
    for kind, allowed in ((torch.float64, True), (torch.int32, False), (torch.bool, False)):
        tensors = {name: tensor.to(kind) for name, tensor in model.named_parameters()}
        write_tensors(tmp_path / "best.safetensors", tensors, {})
        if allowed:
            assert folder.load().model.decoder.output.W_o.dtype == torch.float32
        else:
            with pytest.raises(FolderError, match=r"the weights do not fit regard.json"):
                folder.load()


def test_a_name_that_no_file_can_have_is_no_folder():
    folder = ModelFolder("x" * 5000)
    assert not folder.is_ensemble
    with pytest.raises(FolderError, match="no such model folder"):
        folder.load()
