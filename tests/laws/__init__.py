"""Properties that every tree obeys."""
