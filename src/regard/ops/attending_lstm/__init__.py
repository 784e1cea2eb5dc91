"""RNNsearch's recurrence with an LSTM, on a GPU: `persistent`; its definition is `ops/attending`."""
