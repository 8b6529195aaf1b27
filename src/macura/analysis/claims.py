"""What the MACURA paper (arXiv 2405.19014) claims of its experiments, and how runs are asked about each claim.

A comparison asks for the probability that a random seed of one variant beats a random seed of another. Wordings are
ours. The numbers of the claims are those of the list in docs/studies.md.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from macura.analysis.evidence import (
    FEWEST_SEEDS,
    Evidence,
    Judge,
    every,
    higher,
    settings_hold,
    smaller,
    some,
    stability,
    within,
)
from macura.analysis.study import (
    Member,
    Score,
    StudyData,
    early_return,
    final_return,
    mean_of,
    mean_return,
    part_of,
)

FASTER = mean_return, "mean return over the run"
EARLY = early_return, "mean return over the first third"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, where it stands, and how runs are asked about it."""

    text: str
    where: str
    judge: Judge


def macura_faster(study: StudyData) -> Evidence:
    """Against both model-based rivals."""
    return every(higher(study, "MACURA", "MBPO", *FASTER), higher(study, "MACURA", "M2AC", *FASTER))


def macura_final_sac(study: StudyData) -> Evidence:
    """Undecided where neither is plainly ahead: few seeds cannot show a draw."""
    return higher(study, "MACURA", "SAC")


def model_based_faster(study: StudyData) -> Evidence:
    """Each of the three against SAC."""
    return every(*(higher(study, name, "SAC", *FASTER) for name in ("MACURA", "MBPO", "M2AC")))


def m2ac_behind(study: StudyData) -> Evidence:
    """M2AC below both others."""
    return every(higher(study, "MACURA", "M2AC"), higher(study, "MBPO", "M2AC"))


def half_of_most_updates(study: StudyData) -> Evidence:
    """The mean of G over the run as a share of G_max."""

    def share(member: Member) -> float:
        most = member.run.setting("updates.maximum") if member.run else None
        return mean_of("updates/count")(member) / most if isinstance(most, int | float) and most else math.nan

    return within(study, "MACURA", share, (0.35, 0.65), "mean G as a share of G_max")


def mbpo_brittle(study: StudyData) -> Evidence:
    """Only Walker2d is asked."""
    if "Walker2d" not in study.tasks:
        return Evidence("not enough data", ("no run of MBPO on Walker2d",))
    seeds = [member for member in study.of("MBPO", "Walker2d") if member.complete]
    lost = study.collapsed("MBPO", "Walker2d")
    line = f"MBPO on Walker2d: {lost} of {len(seeds)} seeds collapse"
    if len(seeds) < FEWEST_SEEDS:
        return Evidence("not enough data", (line,))
    return Evidence("supported" if lost else "contradicted", (line,))


def untuned(study: StudyData) -> Evidence:
    """Read from the configurations that were run."""
    runs = [member.run for member in study.of("MACURA") if member.run is not None]
    rollout = "imagination.rollout."
    return settings_hold(runs, {f"{rollout}horizon.length": 10, f"{rollout}gate.quantile": 0.95})


def exploration_helps_macura(study: StudyData) -> Evidence:
    """Pink against none."""
    return higher(study, "MACURA, pink", "MACURA, deterministic")


def pink_helps_mbpo(study: StudyData) -> Evidence:
    """Faster, and not less stable."""
    return every(
        higher(study, "MBPO, pink", "MBPO, deterministic", *FASTER),
        stability(study, "MBPO, pink", stable=True),
    )


def deterministic_macura_best(study: StudyData) -> Evidence:
    """Against both others without noise."""
    return every(
        higher(study, "MACURA, deterministic", "MBPO, deterministic"),
        higher(study, "MACURA, deterministic", "M2AC, deterministic"),
    )


def white_varies(study: StudyData) -> Evidence:
    """Spread over seeds of the final return, task by task."""
    lines: list[str] = []
    wider: list[bool] = []
    for task in study.tasks:
        white, pink = (study.scores_on(f"MACURA, {noise}", task, final_return) for noise in ("white", "pink"))
        if min(len(white), len(pink)) >= FEWEST_SEEDS:
            spreads = float(np.std(white, ddof=1)), float(np.std(pink, ddof=1))
            wider.append(spreads[0] > spreads[1])
            lines.append(
                f"standard deviation over seeds on {task}: white {spreads[0]:,.4g}, pink {spreads[1]:,.4g}"
            )
    if not wider:
        return Evidence(
            "not enough data", ("fewer than 3 complete seeds of MACURA with white and with pink noise",)
        )
    return Evidence(
        "supported" if all(wider) else "undecided" if any(wider) else "contradicted", tuple(lines)
    )


def white_destabilises_mbpo(study: StudyData) -> Evidence:
    """MBPO collapses, MACURA does not."""
    return every(
        stability(study, "MBPO, white", stable=False), stability(study, "MACURA, white", stable=True)
    )


def m2ac_settings_brittle(study: StudyData) -> Evidence:
    """Both tables of M2AC are run here, each with the exploration it was made for."""
    parts = [stability(study, f"M2AC, {noise}", stable=True) for noise in ("deterministic", "white", "pink")]
    lines = tuple(line for part in parts for line in part.lines)
    note = "each table is run with its own exploration only: that shows stability, not its loss elsewhere"
    return Evidence("not enough data", (*lines, note))


def xi_broad(study: StudyData) -> Evidence:
    """Neighbours of the best xi reach most of what the best one does."""
    levels = _means_by_xi(study, final_return)
    if len(levels) < 3:
        return Evidence("not enough data", (f"{len(levels)} values of ξ have 3 complete seeds",))
    best = max(levels, key=lambda xi: levels[xi])
    lowest = _start(study)
    good = [xi for xi, level in levels.items() if level - lowest >= 0.75 * (levels[best] - lowest)]
    said = ", ".join(f"ξ = {xi:g}: {level:,.4g}" for xi, level in sorted(levels.items()))
    line = f"at least three quarters of the best gain for ξ from {min(good):g} to {max(good):g} ({said})"
    return Evidence("supported" if max(good) >= 4 * min(good) else "contradicted", (line,))


def xi_extremes(study: StudyData) -> Evidence:
    """The smallest and the largest xi of the study collapse."""
    labels = _labels_by_xi(study)
    ends = [labels[min(labels)], labels[max(labels)]] if len(labels) > 1 else []
    return every(*(stability(study, label, stable=False) for label in ends))


def xi_one_early(study: StudyData) -> Evidence:
    """Not behind the best xi by more than a quarter of its early gain."""
    early = _means_by_xi(study, early_return)
    if 1.0 not in early or len(early) < 2:
        return Evidence("not enough data", ("ξ = 1 and others, with 3 complete seeds each, are needed",))
    start, best = _start(study), max(early.values())
    share = (early[1.0] - start) / (best - start) if best > start else 1.0
    line = f"over the first third, ξ = 1 gains {share:.0%} of what the best ξ gains"
    return Evidence("supported" if share >= 0.75 else "contradicted", (line,))


def needs_threshold(study: StudyData) -> Evidence:
    """Against the rank-based filter."""
    return higher(study, "MACURA", "rank-based filter")


def needs_gjs(study: StudyData) -> Evidence:
    """One-versus-rest ends lower, or collapses."""
    return some(higher(study, "MACURA", "one-versus-rest"), stability(study, "one-versus-rest", stable=False))


def needs_adaptive_kappa(study: StudyData) -> Evidence:
    """Both fixed thresholds collapse."""
    fixed = [label for label in study.variants if label.startswith("κ = ")]
    return every(*(stability(study, label, stable=False) for label in fixed))


def needs_adaptive_g(study: StudyData) -> Evidence:
    """A fixed G ends lower."""
    fixed = [label for label in study.variants if label.startswith("G = ")]
    return every(*(higher(study, "MACURA", label) for label in fixed))


def needs_exploration(study: StudyData) -> Evidence:
    """Without noise it ends lower."""
    return higher(study, "MACURA", "deterministic")


def kappa_falls(study: StudyData) -> Evidence:
    """The last fifth of the run against the first rounds of it."""
    last, first = part_of("rollout/kappa", 0.8, 1.0), part_of("rollout/kappa", 0.0, 0.3)
    return smaller(study, "MACURA", last, first, "κ in the last fifth below κ in the first three tenths")


def macura_best_in_noise(study: StudyData) -> Evidence:
    """At each of the three levels, against both others."""
    return every(
        *(
            higher(study, f"MACURA, {level}", f"{rival}, {level}")
            for level in study.groups
            for rival in ("MBPO", "M2AC")
        )
    )


def lengths(study: StudyData) -> Evidence:
    """MBPO 1, M2AC constant near 2.5, MACURA short first and growing."""
    length = "rollout/mean_length"
    return every(
        within(study, "MBPO", mean_of(length), (0.99, 1.01), "mean rollout length"),
        within(study, "M2AC", mean_of(length), (2.0, 2.6), "mean rollout length"),
        smaller(
            study,
            "MACURA",
            part_of(length, 0.0, 0.3),
            part_of(length, 0.8, 1.0),
            "early length below late length",
        ),
    )


def uncertainty_of_data(study: StudyData) -> Evidence:
    """MBPO highest and falling, MACURA lowest at the start."""
    variance = "rollout/mean_variance"
    start = part_of(variance, 0.0, 0.3)
    what = "mean variance of stored data at the start"
    return every(
        higher(study, "MBPO", "M2AC", mean_of(variance), "mean variance of stored data"),
        smaller(study, "MBPO", part_of(variance, 0.8, 1.0), start, "variance late below early"),
        higher(study, "MBPO", "MACURA", start, what),
        higher(study, "M2AC", "MACURA", start, what),
    )


def updates_on_walker(study: StudyData) -> Evidence:
    """MACURA's G is low early and ends at about seven tenths of G_max (a bit over 40 of 60)."""
    count = "updates/count"

    def late_share(member: Member) -> float:
        most = member.run.setting("updates.maximum") if member.run else None
        return part_of(count, 0.8, 1.0)(member) / most if isinstance(most, int | float) and most else math.nan

    return every(
        smaller(study, "MACURA", part_of(count, 0.0, 0.3), part_of(count, 0.8, 1.0), "G early below G late"),
        within(study, "MACURA", late_share, (0.6, 0.8), "late G as a share of G_max"),
    )


def more_updates_unstable(study: StudyData) -> Evidence:
    """Both variants with more updates collapse."""
    more = [label for label in study.variants if ", G = " in label]
    return every(*(stability(study, label, stable=False) for label in more))


def ovr_diverges(study: StudyData) -> Evidence:
    """MACURA with M2AC's measure collapses."""
    return stability(study, "MACURA, one-versus-rest", stable=False)


def gjs_helps_m2ac(study: StudyData) -> Evidence:
    """M2AC with MACURA's measure learns faster."""
    return higher(study, "M2AC, GJS", "M2AC, one-versus-rest", *FASTER)


def variance_weaker(study: StudyData) -> Evidence:
    """Both variances are stable, and end below the divergence."""
    names = "MACURA, ensemble variance", "MACURA, mean variance"
    return every(
        *(stability(study, name, stable=True) for name in names),
        *(higher(study, "MACURA, GJS", name) for name in names),
    )


def both_destabilise(study: StudyData) -> Evidence:
    """At least one seed of each collapses."""
    lines: list[str] = []
    lost: list[bool] = []
    for name in ("MBPO", "MACURA"):
        complete = sum(member.complete for member in study.of(name))
        count = sum(study.collapsed(name, task) for task in study.tasks)
        lines.append(f"{name}: {count} of {complete} seeds collapse")
        if complete >= FEWEST_SEEDS:
            lost.append(count > 0)
    if len(lost) < 2:
        return Evidence("not enough data", tuple(lines))
    return Evidence("supported" if all(lost) else "undecided" if any(lost) else "contradicted", tuple(lines))


CLAIMS: Mapping[str, Claim] = {
    "macura_faster": Claim("1. MACURA learns faster than MBPO and M2AC.", "section 6.2", macura_faster),
    "macura_final_sac": Claim("2. MACURA ends on par with SAC or above.", "section 6.2", macura_final_sac),
    "model_based_faster": Claim(
        "3. All model-based algorithms learn faster than SAC.", "section 6.2", model_based_faster
    ),
    "m2ac_behind": Claim("4. M2AC ends below MACURA and MBPO.", "section 6.2, appendix E.3", m2ac_behind),
    "exploration_helps_macura": Claim(
        "5. Pink exploration raises what MACURA ends at.", "section 6.3", exploration_helps_macura
    ),
    "white_destabilises_mbpo": Claim(
        "5. White exploration destabilises MBPO, but not MACURA.", "section 6.3", white_destabilises_mbpo
    ),
    "pink_helps_mbpo": Claim(
        "6. Pink exploration makes MBPO faster and leaves it stable.", "appendix E.3", pink_helps_mbpo
    ),
    "deterministic_macura_best": Claim(
        "7. Without exploration noise, MACURA is the best of the three.",
        "appendix E.3",
        deterministic_macura_best,
    ),
    "white_varies": Claim(
        "8. MACURA varies more over seeds with white than with pink noise.", "appendix E.3", white_varies
    ),
    "m2ac_settings_brittle": Claim(
        "9. Settings of M2AC that are stable without exploration are not with it, and the reverse.",
        "appendix E.1",
        m2ac_settings_brittle,
    ),
    "xi_broad": Claim("10. A broad range of ξ works.", "section 6.4", xi_broad),
    "xi_extremes": Claim("10. Too small and too large ξ destabilise learning.", "section 6.4", xi_extremes),
    "xi_one_early": Claim("11. ξ = 1 learns reasonably at first.", "appendix E.2", xi_one_early),
    "needs_threshold": Claim(
        "12. With a rank-based filter, MACURA is substantially worse.", "section 6.5", needs_threshold
    ),
    "needs_gjs": Claim("12. With one-versus-rest uncertainty, MACURA diverges.", "section 6.5", needs_gjs),
    "needs_adaptive_kappa": Claim(
        "12. Fixed thresholds destabilise MACURA.", "section 6.5", needs_adaptive_kappa
    ),
    "needs_adaptive_g": Claim(
        "12. A fixed number of updates costs MACURA some return.", "section 6.5", needs_adaptive_g
    ),
    "needs_exploration": Claim(
        "12. Deterministic interaction costs MACURA much return.", "section 6.5", needs_exploration
    ),
    "kappa_falls": Claim("13. κ starts high and falls during training.", "section 6.5", kappa_falls),
    "ovr_diverges": Claim(
        "14. MACURA with one-versus-rest uncertainty learns, then diverges.", "appendix E.6", ovr_diverges
    ),
    "gjs_helps_m2ac": Claim(
        "15. M2AC with the GJS measure is somewhat faster than with its own.", "appendix E.6", gjs_helps_m2ac
    ),
    "variance_weaker": Claim(
        "16. MACURA works with variances as measure, weaker than with GJS.", "appendix E.6", variance_weaker
    ),
    "lengths": Claim(
        "17. Rollouts of MBPO have length 1, of M2AC a constant one; MACURA's are short at first and grow.",
        "appendix E.5",
        lengths,
    ),
    "uncertainty_of_data": Claim(
        "18. Stored data is most uncertain for MBPO, falling; at the start it is least uncertain for MACURA.",
        "appendix E.5",
        uncertainty_of_data,
    ),
    "updates_on_walker": Claim(
        "19. MACURA's G is low at first and ends a bit above two thirds of G_max.",
        "appendix E.5",
        updates_on_walker,
    ),
    "more_updates_unstable": Claim(
        "20. MBPO and M2AC are not stable with as many updates as MACURA does.",
        "appendix E.5",
        more_updates_unstable,
    ),
    "half_of_most_updates": Claim(
        "21. MACURA's G is about half of G_max on average.", "appendix D", half_of_most_updates
    ),
    "macura_best_in_noise": Claim(
        "22. MACURA is above MBPO and M2AC at every level of action noise.",
        "appendix E.4",
        macura_best_in_noise,
    ),
    "both_destabilise": Claim(
        "23. In very long runs, MBPO and MACURA both destabilise.", "appendix E.7", both_destabilise
    ),
    "mbpo_brittle": Claim(
        "25. MBPO is brittle on Walker2d even with rollouts of one step.", "appendix E.2", mbpo_brittle
    ),
    "untuned": Claim("26. T_max = 10 and ζ = 0.95 are the same on all tasks.", "section 6.4", untuned),
}
"""By key, in the order of the paper."""


def _labels_by_xi(study: StudyData) -> dict[float, str]:
    return {float(label.removeprefix("ξ = ")): label for label in study.variants if label.startswith("ξ = ")}


def _start(study: StudyData) -> float:
    """Where the runs of a study of one task begin."""
    first = [m.run.series("eval/return_mean").values[:1] for m in study.members if m.run is not None]
    return float(np.median(np.concatenate(first))) if first else math.nan


def _means_by_xi(study: StudyData, score: Score) -> dict[float, float]:
    """Means over seeds, where there are enough of them."""
    means: dict[float, float] = {}
    for xi, label in _labels_by_xi(study).items():
        values = np.concatenate(study.scores(label, score))
        if len(values) >= FEWEST_SEEDS:
            means[xi] = float(np.mean(values))
    return means
