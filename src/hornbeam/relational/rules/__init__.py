"""Background rules worked out once: non-recursive Datalog here, anything else by swipl."""
