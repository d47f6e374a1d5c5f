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


ACCOUNTS = {
    "loan": {"id": [1, 2, 3], "account": [7, 7, 8], "since": [10, 20, 30], "bad": ["y", "n", "n"]},
    "account": {"id": [7, 8, 9], "city": ["u", "v", "u"]},
    "payment": {
        "id": [1, 2, 3, 4, 5],
        "account": [7, 8, 8, 9, None],
        "amount": [5, 6, 7, 8, 9],
        "day": [15, 5, 30, 1, 1],
    },
}


def accounts(frames: dict = ACCOUNTS, **options: object) -> RelationalData:
    return RelationalData.from_frames(
        frames,
        {"loan": "id", "account": "id", "payment": "id"},
        {"loan": {"account": "account"}, "payment": {"account": "account"}},
        target="loan.bad",
        **options,  # type: ignore[arg-type]
    )


def test_rows_that_refer_to_a_parent_are_asked_about() -> None:
    modes = lines(accounts(exclude=["payment.day", "loan.since"]).default_bias(), "rmode")
    assert modes == [
        "rmode((loan(+Key, -Account), account(Account, #[u]))).",
        "rmode((loan(+Key, -Account), payment(-Payment, Account, _))).",
        "rmode((loan(+Key, -Account), payment(-Payment, Account, -Value), Value <= #)).",
        "rmode((loan(+Key, -Account), payment(-Payment, Account, -Value), Value > #)).",
        "rmode((payment(+Payment, _, -Value), Value <= #)).",
        "rmode((payment(+Payment, _, -Value), Value > #)).",
    ]
    assert "payment" not in str(accounts().default_bias(max_hops=1))


def test_references_may_run_in_circles() -> None:
    frames = {
        "team": {"id": [1, 2, 3, 4], "lead": [1, 2, 3, 4], "wins": list("yyyn")},
        "player": {"id": [1, 2, 3, 4], "team": [2, 1, 4, 3], "age": [20, 30, 40, 50]},
    }
    data = RelationalData.from_frames(
        frames,
        {"team": "id", "player": "id"},
        {"team": {"lead": "player"}, "player": {"team": "team"}},
        target="team.wins",
    )
    bias = data.default_bias()
    assert data.coded(bias).relations["player"].owner.tolist() == [1, 0, 3, 2]  # type: ignore[union-attr]
    assert not any(ahead.then[0].predicate == "team" for ahead in bias.lookaheads)


def test_rows_that_refer_to_rows_of_their_own_table_are_joined() -> None:
    frames = {
        "thread": {"id": [1, 2], "spam": ["y", "n"]},
        "post": {"id": [1, 2, 3], "thread": [1, 1, 2], "reply_to": [None, 1, None], "words": [5, 7, 9]},
    }
    data = RelationalData.from_frames(
        frames,
        {"thread": "id", "post": "id"},
        {"post": {"thread": "thread", "reply_to": "post"}},
        target="thread.spam",
    )
    bias = data.default_bias()
    assert bias.types["post"] == ("post", "thread", "post", "post_words")
    answered = "rmode((post(-Post, +Key, -Post_of_Post, _), post(Post_of_Post, Key, _, -Value), Value <= #))."
    assert answered in lines(bias, "rmode")
    data.coded(bias)


def test_keys_that_refer_to_each_other_have_one_type() -> None:
    frames = {"b": {"id": [1, 2], "y": list("uv")}, "a": {"id": [2, 1], "x": [1, 2]}}
    data = RelationalData.from_frames(
        frames, {"a": "id", "b": "id"}, {"b": {"id": "a"}, "a": {"id": "b"}}, target="b.y"
    )
    assert {types[0] for types in data.default_bias().types.values()} == {"a"}


def test_tables_and_columns_may_have_dots_in_their_names() -> None:
    frames = {"a": {"id": [1], "y": ["u"]}, "a.b": {"id": [1], "y.z": ["u"], "x": [1]}}
    data = RelationalData.from_frames(frames, {"a": "id", "a.b": "id"}, target="a.b.y.z")
    assert list(data.default_bias().types) == ["a.b"]


def test_a_target_is_needed() -> None:
    with pytest.raises(UsageError, match=r"default_bias needs a target"):
        RelationalData.from_frames(BANK, KEYS, REFERENCES).default_bias()
