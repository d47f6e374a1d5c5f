"""What is asked of the rows of a node: the places that a scan has for it, each adding its own to a plan."""

from __future__ import annotations

from hornbeam.boat.plan import PlaceRecord, Route, ScanPlan

KEPT_PLACE = 2  # places behind the first, where rows between two keys are kept


def gathering(plan: ScanPlan) -> int:
    return plan.add(PlaceRecord(keeps=True))


def comparing(old: Route | None, new: Route | None, plan: ScanPlan) -> int:
    """A place that keeps its rows, and others that count them by the branches of an old test, if there was
    one, and of the new one there."""
    at = plan.add(PlaceRecord(keeps=True))
    count_branches(old, new, plan, at)
    return at


def count_branches(old: Route | None, new: Route | None, plan: ScanPlan, at: int) -> None:
    """Further places that count the rows of one by the branches of both tests."""
    ends = [at]
    for route in (old, new):
        if route is None:
            continue
        below: list[int] = []
        for end in ends:
            children = [plan.add(PlaceRecord()) for _ in route["children"]]
            plan.places[end].tests = [route | {"children": children}]
            below += children
        ends = below


def branches(plan: ScanPlan, place: int) -> list[int]:
    tests = plan.places[place].tests
    return list(tests[0]["children"]) if tests else []


def keeping(attribute: int, low: int, high: int, plan: ScanPlan) -> int:
    """Places where only the rows between two keys come through."""
    first = plan.add(PlaceRecord())
    upper, rows = plan.add(PlaceRecord()), plan.add(PlaceRecord(keeps=True))
    test: Route = {"kind": "numeric", "attribute": attribute, "missing": 0}
    plan.places[first].tests = [test | {"lo": low, "children": [-1, upper]}]
    plan.places[upper].tests = [test | {"lo": high, "children": [rows, -1]}]
    return first
