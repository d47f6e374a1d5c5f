"""The default bias: attributes, parents, children, counts, and never back the way it came."""

import pytest

from hornbeam.errors import UsageError
from hornbeam.relational.bias import Bias
from hornbeam.relational.data import RelationalData
from tests.unit.relational.test_data import BANK, FRIENDS, KEYS, REFERENCES, bank, friends


def lines(bias: Bias, what: str) -> list[str]:
    return [line for line in bias.to_text().splitlines() if line.startswith(what)]


def test_the_whole_bias_of_a_small_bank() -> None:
    assert bank().default_bias().to_text().splitlines() == [
        "target('loan.status').",
        "key(loan).",
        "type(loan(loan, loan_amount, account)).",
        "type(account(account, account_city)).",
        "type(count_orders(loan, count_orders)).",
        "type(orders(orders, loan, orders_state, orders_price)).",
        "type(count_item(orders, count_item)).",
        "type(item(orders, item_weight)).",
        "rmode((loan(+Key, -Value, _), Value <= #)).",
        "rmode((loan(+Key, _, -Account), account(Account, #['Ulm']))).",
        "rmode((count_orders(+Key, -Count), Count > #)).",
        "rmode(orders(-Orders, +Key, _, _)).",
        "rmode(orders(-Orders, +Key, #[late], _)).",
        "rmode((orders(-Orders, +Key, _, -Value), Value <= #)).",
        "rmode((orders(-Orders, +Key, _, -Value), Value > #)).",
        "rmode(orders(+Orders, +Key, #[late], _)).",
        "rmode((orders(+Orders, +Key, _, -Value), Value <= #)).",
        "rmode((orders(+Orders, +Key, _, -Value), Value > #)).",
        "rmode((count_item(+Orders, -Count), Count > #)).",
        "rmode((count_item(+Orders, -Count), Count <= #)).",
        "rmode(item(+Orders, _)).",
        "rmode((item(+Orders, -Value), Value <= #)).",
        "rmode((item(+Orders, -Value), Value > #)).",
        "lookahead(orders(Orders, Key, _, _), (count_item(Orders, -Count), Count > #)).",
        "lookahead(orders(Orders, Key, _, _), (count_item(Orders, -Count), Count <= #)).",
        "lookahead(orders(Orders, Key, _, _), item(Orders, _)).",
        "lookahead(orders(Orders, Key, _, _), (item(Orders, -Value), Value <= #)).",
        "lookahead(orders(Orders, Key, _, _), (item(Orders, -Value), Value > #)).",
        "max_lookahead(1).",
    ]


def test_it_can_be_printed_edited_and_used() -> None:
    data = bank()
    bias = data.default_bias()
    assert Bias.from_text(bias.to_text()) == bias
    shorter = "\n".join(line for line in bias.to_text().splitlines() if "item" not in line)
    assert set(data.coded(Bias.from_text(shorter)).relations) == {"loan", "account", "orders", "count_orders"}


def test_hops_end_the_walk() -> None:
    assert set(bank().default_bias(max_hops=0).types) == {"loan"}
    one = bank().default_bias(max_hops=1)
    assert set(one.types) == {"loan", "account", "count_orders", "orders"}
    assert one.lookaheads == ()


def test_counts_can_be_left_out() -> None:
    assert not any(name.startswith("count_") for name in bank().default_bias(counts=False).types)


def test_the_most_frequent_constants_are_taken() -> None:
    frames = {"t": {"id": list(range(7)), "x": list("caabbcd"), "y": [1, 0] * 3 + [1]}}
    data = RelationalData.from_frames(frames, {"t": "id"}, nominal={"t": ["y"]}, target="t.y")
    assert lines(data.default_bias(), "rmode") == ["rmode(t(+Key, #[a, b, c]))."]
    assert lines(data.default_bias(top=2), "rmode") == ["rmode(t(+Key, #[a, b]))."]


def test_the_target_and_excluded_columns_are_not_asked_about() -> None:
    text = bank(exclude=["orders.price", "loan.amount"]).default_bias().to_text()
    assert "price" not in text
    assert "amount" not in text
    assert "status" not in text.replace("target('loan.status').", "")


def test_rows_that_link_others_bring_what_they_link() -> None:
    bias = RelationalData.from_frames(
        {name: FRIENDS[name] for name in ("person", "club", "member")},
        {"person": "id", "club": "id"},
        {"member": {"person": "person", "club": "club"}},
        target="person.happy",
    ).default_bias()
    assert lines(bias, "rmode") == [
        "rmode((count_member(+Key, -Count), Count > #)).",
        "rmode(member(+Key, -Club_by_Club)).",
        "rmode((member(+Key, -Club_of_Member), club(Club_of_Member, -Value), Value <= #)).",
        "rmode((member(+Key, -Club_of_Member), club(Club_of_Member, -Value), Value > #)).",
        "rmode((club(+Club_by_Club, -Value), Value <= #)).",
        "rmode((club(+Club_by_Club, -Value), Value > #)).",
    ]


def test_rows_between_examples_lead_to_other_examples() -> None:
    modes = lines(friends().default_bias(), "rmode")
    assert "rmode(friend(+Key, -Person_by_Other))." in modes
    assert "rmode(friend(-Person_by_One, +Key))." in modes


def test_straight_back_only_where_it_is_asked_for() -> None:
    frames = {
        "loan": {"id": [1], "bad": ["y"]},
        "product": {"id": [1], "size": [2]},
        "orders": {"id": [1], "loan": [1], "product": [1]},
    }
    data = RelationalData.from_frames(
        frames,
        {name: "id" for name in frames},
        {"orders": {"loan": "loan", "product": "product"}},
        target="loan.bad",
    )
    back = (
        "rmode((orders(+Orders, +Key, -Product_by_Product), orders(-Other_Orders, Key, Product_by_Product)))."
    )
    assert back not in lines(data.default_bias(), "rmode")
    assert back in lines(data.default_bias(self_join=True), "rmode")


def test_a_target_is_needed() -> None:
    with pytest.raises(UsageError, match=r"default_bias needs a target"):
        RelationalData.from_frames(BANK, KEYS, REFERENCES).default_bias()
