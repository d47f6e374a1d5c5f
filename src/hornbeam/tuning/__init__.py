"""Tuning: parameters chosen by cross-validation, all settings read off one growth (paper 004)."""
