"""First-order trees: several linked tables, tests that are existential queries, grown as TILDE grows them.

A fit goes through these modules in this order:

- `data`: `RelationalData`, what users hold; `loading` and `ace` make one of databases and files.
- `linked`: `LinkedTables`, tables with keys and references; `ace.factbase` has facts in their place.
- `target_tables`: `TargetTables`, the tables as the examples of one target see them; `ownership` says whose
  the rows are, `default_bias` which tests suggest themselves.
- `coding`: `TypedData`, relations of typed columns, which become a `database`: `Coded`, relations of codes,
  from which the native engine answers queries.
- `growth`: `grow_first_order` and `learn`; `forest` has the bias in numbers and reads the grown trees, and
  `tree` has what pruning leaves of them.

A grown `tree.RelationalTree` shows itself by `text`, `words`, `prolog`, `sql`, `picture`, `json_form` and
`explain`; what its predicates are called in a database is its `signature`.
"""
