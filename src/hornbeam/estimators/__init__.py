"""Estimators in the shape of scikit-learn: they validate, call and wrap; no algorithm lives here."""
