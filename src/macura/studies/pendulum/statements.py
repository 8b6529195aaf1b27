"""Which of the paper's statements about the illustration hold, each by a criterion that can fail."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

SMOOTH, LOW_RANK, ALIGNED = 0.01, 0.35, 0.8
"""A neighbour differs by less than a hundredth of the range; data lie in the lowest 35 % of the box; the rank
correlation that is asked for."""
GJS, OVR = "geometric_js", "one_vs_rest"

Row = dict[str, Any]


class Statement(NamedTuple):
    """What the paper says, how it is judged, and the number of one seed with its verdict."""

    words: str
    criterion: str
    number: Callable[[Row], float | None]
    passes: Callable[[float], bool]


def _measure(row: Row, measure: str, name: str) -> float | None:
    return row["measures"][measure][name]


def _difference(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


STATEMENTS = (
    Statement(
        "u_GJS is smooth",
        f"mean difference between neighbours below {SMOOTH} of the range",
        lambda row: _measure(row, GJS, "roughness"),
        lambda value: value < SMOOTH,
    ),
    Statement(
        "u_GJS is low where the data are",
        f"at the median data point at most {LOW_RANK} of the box has a lower u_GJS",
        lambda row: _measure(row, GJS, "data_rank"),
        lambda value: value <= LOW_RANK,
    ),
    Statement(
        "u_GJS aligns with the misalignment",
        f"rank correlation above {ALIGNED}",
        lambda row: _measure(row, GJS, "spearman"),
        lambda value: value > ALIGNED,
    ),
    Statement(
        "a kappa gives a clear set E with u_GJS",
        "E and its complement fall into at most 5 pieces",
        lambda row: _measure(row, GJS, "pieces"),
        lambda value: value <= 5,
    ),
    Statement(
        "that E avoids areas of high misalignment",
        "it holds at most 5 % of the states where the misalignment exceeds 1",
        lambda row: _measure(row, GJS, "vacuous_inside"),
        lambda value: value <= 0.05,
    ),
    Statement(
        "u_OvR is substantially noisier",
        "its mean difference between neighbours, over the range, is at least 5 times that of u_GJS",
        lambda row: row["measures"][OVR]["roughness"] / row["measures"][GJS]["roughness"],
        lambda value: value >= 5,
    ),
    Statement(
        "u_OvR gives a set without a clear boundary",
        "E and its complement fall into more than 20 pieces",
        lambda row: _measure(row, OVR, "pieces"),
        lambda value: value > 20,
    ),
    Statement(
        "that set does not match the areas of low misalignment",
        "it holds at least 20 % of the states where the misalignment exceeds 1",
        lambda row: _measure(row, OVR, "vacuous_inside"),
        lambda value: value >= 0.2,
    ),
    Statement(
        "the misalignment is high around the origin",
        "its median in the hole of the spiral exceeds its median over the box",
        lambda row: _difference(row["misalignment"]["median_in_core"], row["misalignment"]["median"]),
        lambda value: value > 0,
    ),
    Statement(
        "u_OvR is overconfident there",
        "in the hole its mean rank is at least 0.1 below that of the misalignment",
        lambda row: _measure(row, OVR, "core_overconfidence"),
        lambda value: value >= 0.1,
    ),
    Statement(
        "and u_GJS is not",
        "in the hole its mean rank is less than 0.1 below that of the misalignment",
        lambda row: _measure(row, GJS, "core_overconfidence"),
        lambda value: value < 0.1,
    ),
    Statement(
        "the return bound holds",
        "for every kappa |eta - eta_model| is at most C; the number is the largest share of C that is used",
        lambda row: max((b["gap"] / b["bound"] for b in row["bounds"]), default=None),
        lambda value: value <= 1,
    ),
)


def judge(seeds: Sequence[Row]) -> list[Row]:
    """Every statement with its number in each seed (None where the grid is too coarse) and in how many it holds."""
    verdicts: list[Row] = []
    for statement in STATEMENTS:
        values = [statement.number(row) for row in seeds]
        holds = sum(value is not None and statement.passes(value) for value in values)
        verdicts.append(
            {
                "statement": statement.words,
                "criterion": statement.criterion,
                "values": values,
                "holds_in": holds,
                "of": len(values),
            }
        )
    return verdicts
