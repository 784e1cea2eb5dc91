"""Learning: configuration, data, the loop, and the folder it leaves behind."""
