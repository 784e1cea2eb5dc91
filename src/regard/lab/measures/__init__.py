"""Measurements that several experiments share, or that are large enough to be read by themselves."""
