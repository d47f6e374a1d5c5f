"""Adversaries that try random cases by a seed; what fails is made smaller and written down."""
