"""Figures, drawn by matplotlib from plain values."""
