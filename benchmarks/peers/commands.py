"""The command with which each peer trains the setting's model: its entry, its options, its configuration file.

In: a setting, folders, a number of updates. Out: a `Command`, with the configuration written as JSON, which every
YAML reader reads. The models are as similar as each toolkit allows: all have a BiLSTM encoder and an LSTM decoder, and
the same Adam, clipping and dropout; each docstring says what differs.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.settings import CLIP, LEARNING_RATE, SEED, Setting


@dataclass(frozen=True)
class Command:
    """A call of a toolkit's own command line.

    Attributes:
        entry: a module to run, or ``module:function`` to call.
        arguments: of the command line.
        patches: names of `patches.PATCHES` that it needs.
        before: a command that prepares the data, run once and not timed.
    """

    entry: str
    arguments: list[str]
    patches: list[str] = field(default_factory=list)
    before: "Command | None" = None


def flags(options: dict[str, Any]) -> list[str]:
    """Options as ``--name value``."""
    return [part for name, value in options.items() for part in (f"--{name}", str(value))]


def _write_config(work: Path, config: dict[str, Any]) -> str:
    path = work / "train.yaml"
    path.write_text(json.dumps(config, indent=1))
    return str(path)


def fairseq(setting: Setting, data: Path, work: Path, updates: int) -> Command:
    """Dot products instead of additive energies, which is less work; reads its own binary form of the corpus."""
    m, n = str(setting.embedding_size), str(setting.decoder_size)
    patches, languages = ["dataclass_defaults", "whole_checkpoints"], ["-s", "source", "-t", "target"]
    binary = work / "binary"
    parts = ["--trainpref", str(data / "train"), "--validpref", str(data / "valid")]
    prepare = Command(
        "fairseq_cli.preprocess:cli_main",
        [*languages, *parts, "--destdir", str(binary), "--workers", "1"],
        patches,
    )
    options: dict[str, Any] = {
        "task": "translation",
        "arch": "lstm",
        "encoder-embed-dim": m,
        "encoder-hidden-size": setting.encoder_size,
        "encoder-layers": 1,
        "decoder-embed-dim": m,
        "decoder-hidden-size": n,
        "decoder-out-embed-dim": n,
        "decoder-layers": 1,
        "decoder-attention": 1,
        "dropout": setting.dropout,
        "criterion": "cross_entropy",
        "optimizer": "adam",
        "lr": LEARNING_RATE,
        "clip-norm": CLIP,
        "batch-size": setting.batch,
        "max-update": updates,
        "num-workers": 0,
        "save-dir": work / "model",
        "log-format": "simple",
        "log-interval": 100,
        "seed": SEED,
    }
    switches = ["--cpu", "--encoder-bidirectional", "--no-epoch-checkpoints", "--disable-validation"]
    return Command(
        "fairseq_cli.train:cli_main", [str(binary), *languages, *switches, *flags(options)], patches, prepare
    )


def _corpus_and_training(setting: Setting, data: Path, updates: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options that OpenNMT-py and its successor eole have in common."""
    corpus = {
        "data": {"corpus": {"path_src": str(data / "train.source"), "path_tgt": str(data / "train.target")}},
        "src_vocab": str(data / "words.source"),
        "tgt_vocab": str(data / "words.target"),
    }
    training = {
        "dropout": [setting.dropout],
        "batch_size": setting.batch,
        "batch_type": "sents",
        "bucket_size": 50 * setting.batch,
        "num_workers": 0,
        "optim": "adam",
        "learning_rate": LEARNING_RATE,
        "max_grad_norm": CLIP,
        "train_steps": updates,
        "valid_steps": 10**6,
        "save_checkpoint_steps": 10**6,
        "world_size": 1,
    }
    return corpus, training


def opennmt_py(setting: Setting, data: Path, work: Path, updates: int) -> Command:
    """Additive energies and input feeding, as Regard."""
    corpus, training = _corpus_and_training(setting, data, updates)
    model = {
        "encoder_type": "brnn",
        "decoder_type": "rnn",
        "rnn_type": "LSTM",
        "enc_layers": 1,
        "dec_layers": 1,
        "hidden_size": setting.decoder_size,
        "word_vec_size": setting.embedding_size,
        "global_attention": "mlp",
        "input_feed": 1,
    }
    saved = {"save_model": str(work / "model"), "report_every": 100, "seed": SEED}
    path = _write_config(work, {**corpus, **training, **model, **saved})
    return Command("onmt.bin.train:main", ["-config", path], ["whole_checkpoints"])


def eole(setting: Setting, data: Path, work: Path, updates: int) -> Command:
    """Additive energies and input feeding, as Regard."""
    corpus, training = _corpus_and_training(setting, data, updates)
    part = {"rnn_type": "LSTM", "layers": 1, "hidden_size": setting.decoder_size}
    model = {
        "architecture": "custom",
        "input_feed": 1,
        "encoder": {**part, "encoder_type": "brnn"},
        "decoder": {**part, "decoder_type": "rnn", "global_attention": "mlp"},
        "embeddings": {"word_vec_size": setting.embedding_size},
    }
    saved = {"model_path": str(work / "model"), "compute_dtype": "fp32"}
    config = {**corpus, "model": model, "training": {**training, **saved}, "overwrite": True, "seed": SEED}
    return Command("eole.bin.main:main", ["train", "-config", _write_config(work, config)])


def joeynmt(setting: Setting, data: Path, work: Path, updates: int) -> Command:
    """Additive energies and input feeding, as Regard; does not group sentences of similar length."""
    p = setting.dropout
    side = {"level": "word", "lowercase": False, "max_length": 10**4}
    part = {
        "type": "recurrent",
        "rnn_type": "lstm",
        "embeddings": {"embedding_dim": setting.embedding_size, "dropout": p},
        "dropout": p,
        "num_layers": 1,
    }
    attending = {"hidden_dropout": p, "input_feeding": True, "init_hidden": "bridge", "attention": "bahdanau"}
    config = {
        "name": "benchmark",
        "joeynmt_version": "2.3.0",
        "model_dir": str(work / "model"),
        "use_cuda": False,
        "fp16": False,
        "random_seed": SEED,
        "data": {
            "train": str(data / "train"),
            "dev": str(data / "valid"),
            "dataset_type": "plain",
            "src": {**side, "lang": "source", "voc_file": str(data / "words.source")},
            "trg": {**side, "lang": "target", "voc_file": str(data / "words.target")},
        },
        "testing": {"eval_metrics": [], "batch_size": setting.batch, "batch_type": "sentence"},
        "training": {
            "optimizer": "adam",
            "learning_rate": LEARNING_RATE,
            "scheduling": "exponential",
            "decrease_factor": 0.99,
            "clip_grad_norm": CLIP,
            "batch_size": setting.batch,
            "batch_type": "sentence",
            "normalization": "tokens",
            "loss": "crossentropy",
            "label_smoothing": 0.0,
            "epochs": 1000,
            "updates": updates,
            "validation_freq": 10**6,
            "logging_freq": 100,
            "overwrite": True,
            "print_valid_sents": [],
        },
        "model": {
            "initializer": "xavier_uniform",
            "encoder": {**part, "hidden_size": setting.encoder_size, "bidirectional": True},
            "decoder": {**part, **attending, "hidden_size": setting.decoder_size},
        },
    }
    return Command("joeynmt", ["train", _write_config(work, config), "--skip-test"])


def yoyodyne(setting: Setting, data: Path, work: Path, updates: int) -> Command:
    """Additive energies, the context fed to the LSTM; does not group sentences of similar length."""
    part = {"embedding_size": setting.embedding_size}
    encoder = {
        **part,
        "hidden_size": setting.encoder_size,
        "layers": 1,
        "bidirectional": True,
        "dropout": setting.dropout,
    }
    decoder = {
        "decoder_hidden_size": setting.decoder_size,
        "decoder_layers": 1,
        "decoder_dropout": setting.dropout,
    }
    model = str(work / "model")
    config = {
        "seed_everything": SEED,
        "trainer": {
            "accelerator": "cpu",
            "max_steps": updates,
            "max_epochs": -1,
            "limit_val_batches": 0,
            "num_sanity_val_steps": 0,
            "enable_progress_bar": False,
            "gradient_clip_val": CLIP,
            "logger": False,
            "default_root_dir": model,
        },
        "model": {
            "class_path": "yoyodyne.models.SoftAttentionLSTMModel",
            "init_args": {
                **part,
                **decoder,
                "optimizer": {"class_path": "yoyodyne.optimizers.Adam", "init_args": {"lr": LEARNING_RATE}},
                "source_encoder": {"class_path": "yoyodyne.models.modules.LSTMEncoder", "init_args": encoder},
            },
        },
        "data": {
            "model_dir": model,
            "train": str(data / "train.tsv"),
            "val": str(data / "valid.tsv"),
            "source_sep": " ",
            "target_sep": " ",
            "tie_embeddings": False,
            "batch_size": setting.batch,
        },
        "checkpoint": {"filename": "last", "dirpath": model},
    }
    return Command("yoyodyne.cli.main:main", ["fit", "--config", _write_config(work, config)])


COMMANDS: dict[str, Callable[[Setting, Path, Path, int], Command]] = {
    "fairseq": fairseq,
    "eole": eole,
    "opennmt-py": opennmt_py,
    "joeynmt": joeynmt,
    "yoyodyne": yoyodyne,
}
"""By the name of the virtual environment without ``venv-``: (setting, corpus, a working folder, updates) → command."""
