"""Model → hypotheses: beam search (`beam`), sampling (`sampling`), forced decoding of given words (`forced`).

Their options are in `options`, constraints on one output in `constraints`, the record of a search in `trace`.
"""
