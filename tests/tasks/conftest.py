"""A language model's folder, untrained but with weights of its own: for those that begin as one."""

import pytest
import torch

from regard.checkpoint import ModelFolder
from regard.models import LanguageModelConfig, LanguageModelNetwork
from regard.text import train_tokenizer


@pytest.fixture
def language_model(tmp_path):
    """Write a folder of a language model of the words a to h."""

    def write(kind="word", name="language_model", **options):
        sizes = {"embedding_size": 5, "state_size": 6, "num_layers": 2, **options}
        tokenizer = train_tokenizer(kind, ["a b c d e f g h"], size=50)
        torch.manual_seed(5)
        model = LanguageModelNetwork(LanguageModelConfig(**sizes), tokenizer.size)
        folder = ModelFolder(tmp_path / name)
        folder.create("language_model", model.config, {"text": tokenizer}, sizes={"text": tokenizer.size})
        folder.write_weights("best", model, {})
        return folder.path

    return write
