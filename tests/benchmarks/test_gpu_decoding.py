from dataclasses import replace

import pytest
import torch
from benchmarks.gpu import decoding

from regard.models import ModelConfig, Seq2Seq
from regard.text.specials import EOS
from regard.training.configure import PRESETS


@pytest.fixture
def small(monkeypatch):
    """The preset with few units and words, built in the same way."""
    full = PRESETS["rnnsearch-50"]()
    config = ModelConfig.from_mapping(full["model"], "model")
    assert (config.decoder.state_size, config.decoder.embedding_size) == (1000, 620)
    encoder = replace(config.encoder, state_size=6, embedding_size=4)
    decoder = replace(
        config.decoder,
        state_size=6,
        embedding_size=4,
        readout_size=5,
        attention=replace(config.decoder.attention, size=6),
    )
    config = replace(config, encoder=encoder, decoder=decoder)
    monkeypatch.setattr(decoding, "VOCABULARY", 30)
    monkeypatch.setattr(decoding, "PRESETS", {"rnnsearch-50": lambda: {"model": config.to_mapping()}})


@pytest.mark.parametrize("precision", decoding.PRECISIONS)
@pytest.mark.parametrize("beam", [1, 5])
@pytest.mark.usefixtures("small")
def test_every_output_is_as_long_as_its_source(precision, beam):
    model = decoding.rnnsearch(precision, "cpu")
    assert isinstance(model, Seq2Seq)
    assert {parameter.dtype for parameter in model.parameters()} == {decoding.PRECISIONS[precision]}
    with torch.no_grad():
        model.decoder.output.b_o[EOS] += 9  # outputs would end at once without the minimum length
    batch = decoding.sources(3, "cpu")
    assert torch.equal(batch.source_mask, torch.ones(3, decoding.WORDS + 1).bool())
    batch = decoding.sources(5, "cpu", "as in a corpus")
    sizes = batch.source_mask.sum(dim=1).tolist()
    assert len(set(sizes)) > 1
    for path in decoding.PATHS:
        results = decoding.build_search(model, batch, decoding.options_of(beam), path)()
        assert [len(result.best.ids) for result in results] == sizes
