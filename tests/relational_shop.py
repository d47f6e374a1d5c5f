"""Customers, their orders and the items of those, made so that a known question tells who leaves."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

from hornbeam import RelationalData

KEYS = {"customers": "id", "orders": "id", "items": "id", "products": "id"}
REFERENCES = {"orders": {"customer": "customers"}, "items": {"order": "orders", "product": "products"}}
CONSTRAINED = """
CREATE TABLE products (id INTEGER PRIMARY KEY, category VARCHAR);
CREATE TABLE customers (id INTEGER PRIMARY KEY, city VARCHAR, age INTEGER, churn VARCHAR);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id), status VARCHAR, amount DOUBLE
);
CREATE TABLE items (
    id INTEGER PRIMARY KEY, "order" INTEGER REFERENCES orders (id),
    product INTEGER REFERENCES products (id), price DOUBLE
);
"""


def shop_frames(n: int = 200, seed: int = 0, noise: float = 0.05) -> dict[str, pd.DataFrame]:
    """Customers leave who have a late order with an item of at most 12.5; `noise` is the share of others."""
    draw = np.random.default_rng(seed)
    customers = pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "city": draw.choice(["Ghent", "Leuven", None], n),
            "age": draw.integers(18, 80, n),
        }
    )
    many = draw.poisson(3, n)
    orders = pd.DataFrame({"id": np.arange(1, many.sum() + 1), "customer": np.repeat(customers.id, many)})
    orders["status"] = draw.choice(["late", "on time", "it's back"], len(orders), p=[0.25, 0.65, 0.1])
    orders["amount"] = np.round(draw.gamma(2, 40, len(orders)), 2)
    orders.loc[draw.random(len(orders)) < 0.05, "amount"] = np.nan
    held = draw.poisson(1.8, len(orders))
    items = pd.DataFrame({"id": np.arange(1, held.sum() + 1), "order": np.repeat(orders.id, held)})
    items["product"] = draw.integers(1, 31, len(items))
    items["price"] = np.round(draw.gamma(2, 12, len(items)), 2)
    products = pd.DataFrame({"id": np.arange(1, 31), "category": draw.choice(["food", "toys", "books"], 30)})
    late = orders[(orders.status == "late") & orders.id.isin(items.order[items.price <= 12.5])]
    leaves = customers.id.isin(late.customer) ^ (draw.random(n) < noise)
    customers["churn"] = np.where(leaves, "yes", "no")
    frames = {"customers": customers, "orders": orders, "items": items, "products": products}
    return {name: frame.reset_index(drop=True) for name, frame in frames.items()}


def shop(n: int = 200, seed: int = 0, **options: object) -> RelationalData:
    return RelationalData.from_frames(
        shop_frames(n, seed), KEYS, REFERENCES, target="customers.churn", **options
    )


def write_duckdb(path: Path, frames: dict[str, pd.DataFrame]) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(CONSTRAINED)
        for name in ("products", "customers", "orders", "items"):
            connection.register("given", frames[name])
            connection.execute(f'INSERT INTO "{name}" SELECT * FROM given')


def write_sqlite(path: Path, frames: dict[str, pd.DataFrame]) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(CONSTRAINED)
    for name in ("products", "customers", "orders", "items"):
        frames[name].to_sql(name, connection, if_exists="append", index=False)
    connection.commit()
    connection.close()


def write_folder(path: Path, frames: dict[str, pd.DataFrame]) -> None:
    path.mkdir()
    names = {"customer": "customer_id", "order": "order_id", "product": "product_id"}
    for name, frame in frames.items():
        frame.rename(columns=names).to_csv(path / f"{name}.csv", index=False)
