"""First-order trees: several linked tables, tests that are existential queries, grown as TILDE grows them."""
