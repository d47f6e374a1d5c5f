"""Trees that were published, built by hand."""

from __future__ import annotations

from hornbeam.relational.logic import KEY, Anything, Constant, Literal, Variable
from hornbeam.relational.signature import Predicate, Route, Signature
from hornbeam.relational.tree import Node, RelationalTree

ANY = Anything()


def v(number: int) -> Variable:
    return Variable(number)


def c(value: str | int | float) -> Constant:
    return Constant(value)


MACHINES = RelationalTree(
    "classification",
    "class",
    ("fix", "ok", "sendback"),
    (
        Node((6.0, 3.0, 6.0), (Literal("worn", (KEY, v(1))),), 1, 4),
        Node((6.0, 0.0, 6.0), (Literal("not_replaceable", (v(1),)),), 2, 3),
        Node((0.0, 0.0, 6.0)),
        Node((6.0, 0.0, 0.0)),
        Node((0.0, 3.0, 0.0)),
    ),
)

SHOP = Signature(
    {
        "customers": Predicate(
            "customers", ("id", "city", "age"), ("customer", "city", "age"), key=0, identity=0
        ),
        "orders": Predicate(
            "orders",
            ("id", "customer", "status", "amount"),
            ("order", "customer", "status", "amount"),
            key=1,
            identity=0,
        ),
        "items": Predicate(
            "items",
            ("id", "order", "product", "price"),
            ("item", "order", "product", "price"),
            identity=0,
            routes=(Route(1, "orders", 0),),
        ),
        "products": Predicate("products", ("id", "category"), ("product", "category"), identity=0),
    },
    key_type="customer",
    examples="customers",
    key_field="id",
)

LATE = (
    Literal("orders", (v(1), KEY, c("late"), ANY)),
    Literal("items", (ANY, v(1), v(2), v(3))),
    Literal("<=", (v(3), c(12.5))),
)
CHURN = RelationalTree(
    "classification",
    "churn",
    ("no", "yes"),
    (
        Node((6.0, 9.0), LATE, 1, 6),
        Node((2.0, 8.0), (Literal("products", (v(2), c("toys"))),), 2, 3),
        Node((0.0, 7.0)),
        Node((2.0, 1.0), (Literal("orders", (v(4), KEY, ANY, v(5))), Literal(">", (v(5), c(100.0)))), 4, 5),
        Node((2.0, 0.0)),
        Node((0.0, 1.0)),
        Node((4.0, 1.0), (Literal("customers", (KEY, c("Paris"), v(1))), Literal("<=", (v(1), c(30)))), 7, 8),
        Node((4.0, 0.0)),
        Node((0.0, 1.0)),
    ),
    signature=SHOP,
)
