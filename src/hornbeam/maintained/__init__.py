"""A tree that stays exact while its rows change (paper 002, section 4)."""
