"""Classifiers and taggers: small ones for a CPU, and the papers' for classifying."""

from regard.training.presets.preset import Preset


def classifier() -> Preset:
    """A BiLSTM of 128 each way with attention pooling, small enough for a laptop's CPU."""
    return {
        "task": "classify",
        "tokenizer": {"text": "word", "text_size": 20_000},
        "model": {
            "encoder": {"cell": "lstm", "embedding_size": 128, "state_size": 128, "dropout": 0.3},
            "pooling": "attention",
            "pooling_size": 128,
            "dropout": 0.3,
        },
        "training": {
            "optimizer": "adam",
            "rate": 0.002,
            "schedule": "cosine",
            "warmup": 100,
            "clip": 1.0,
            "batch_sentences": 32,
            "batch_tokens": 4000,
            "max_epochs": 10.0,
            "select": "accuracy",
        },
    }


def classifier_pretrained() -> Preset:
    """Fine-tuning a language model into a classifier; name its folder: --set pretrained.encoder=FOLDER.

    Howard & Ruder 2018, ULMFiT: one more layer thaws each epoch (§3.3), each layer below learns 2.6 times more slowly
    (§3.2), the rate rises over the first tenth of the run and falls to zero in a line (§3.2, slanted triangles), a
    hidden layer of 50, batches of 64, dropout 0.4, at most 0.01 (§4.1). Their head reads the last state beside the
    mean and the maximum over all; ours pools by attention.
    """
    return {
        "task": "classify",
        "tokenizer": {"text": "word", "text_size": 20_000},
        "model": {
            "encoder": {
                "cell": "lstm",
                "bidirectional": False,
                "embedding_size": 256,
                "state_size": 256,
                "dropout": 0.4,
            },
            "pooling": "attention",
            "pooling_size": 128,
            "hidden_size": 50,
            "dropout": 0.4,
        },
        "training": {
            "optimizer": "adam",
            "rate": 0.01,
            "schedule": "linear",
            "warmup": 1_000_000,  # a tenth of the run, where that is less
            "clip": 1.0,
            "depth_decay": 1 / 2.6,
            "thaw_every": 1.0,
            "batch_sentences": 64,
            "batch_tokens": 8000,
            "max_epochs": 10.0,
            "select": "accuracy",
        },
    }


def lstmn_classifier() -> Preset:
    """The LSTMN as a classifier, as for sentiment in Cheng, Dong & Lapata 2016.

    One layer of 168, the mean of its states, a hidden layer, dropout 0.5 on the classifier, Adam at 0.002, batches of
    5 (§4.2). Not copied: words are learnt from nothing and not from GloVe, the head's hidden layer is of tanh and as
    wide as the state, and there is no decay of weights.
    """
    return {
        "task": "classify",
        "tokenizer": {"text": "word", "text_size": 20_000},
        "model": {
            "encoder": {"cell": "lstmn", "bidirectional": False, "embedding_size": 300, "state_size": 168},
            "pooling": "mean",
            "hidden_size": 168,
            "dropout": 0.5,
        },
        "training": {
            "optimizer": "adam",
            "rate": 0.002,
            "clip": 5.0,
            "batch_sentences": 5,
            "batch_tokens": 4000,
            "max_epochs": 10.0,
            "select": "accuracy",
        },
    }


def tagger() -> Preset:
    """A BiLSTM of 128 each way with a tag at every word, small enough for a laptop's CPU."""
    return {
        "task": "tag",
        "tokenizer": {"text": "word", "text_size": 20_000},
        "model": {"encoder": {"cell": "lstm", "embedding_size": 128, "state_size": 128, "dropout": 0.3}},
        "training": {
            "optimizer": "adam",
            "rate": 0.002,
            "schedule": "cosine",
            "warmup": 100,
            "clip": 1.0,
            "batch_sentences": 32,
            "batch_tokens": 4000,
            "max_epochs": 10.0,
            "select": "accuracy",
        },
    }
