"""The adversaries by their names."""

from __future__ import annotations

from tests.soak.routes import ROUTES
from tests.soak.runner import Adversary

ADVERSARIES: dict[str, Adversary] = {adversary.name: adversary for adversary in (ROUTES,)}
