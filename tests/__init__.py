"""Every test of the package, and the code that tests share (`tests.oracle`, `tests.real_data`)."""
