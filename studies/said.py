"""What the paper says, beside each claim that is made of it: its words, its figure, and who chose the threshold."""

from __future__ import annotations

import re

_UPPER = (
    "our approach achieves an accuracy and statistical disparity comparable to the upper baseline despite training on "
    "the biased labels"
)
_LIMITED = (
    "the mitigating baselines are generally effective in achieving fairness, but their predictive performance on the "
    "unbiased data is limited"
)
_REAL = (
    "our method approaches the statistical disparity present in the unbiased data and outperforms the baselines in "
    "terms of unbiased label F1 score"
)
_SIMPLE = (
    "the simplified programs achieve a better F1 score and 'no positive bias' achieves a better statistical disparity"
)
_BIASED = "when evaluating on biased data, the baselines incorrectly appear to perform better"

_EFFECTIVE = "the mitigating baselines are generally effective in achieving fairness"
_CONSISTENT = "the results are consistent across fairness metrics"
_ALL_THREE = (
    "correcting for all three variables at the same time does much better in terms of both F1 score and statistical "
    "disparity"
)

# By study, what a claim says, the figure, and the paper's words; the first that is found in the claim.
_STUDENT = (
    ("equalized odds", "Figure 7, appendix", _CONSISTENT),
    ("judged by biased", "Figure 5, RQ4", _BIASED),
    ("'no ", "Figure 5, RQ5", _SIMPLE),
    ("", "Figure 5, RQ4", _REAL),
)
SAID: dict[str, tuple[tuple[str, str, str], ...]] = {
    "bias-sweep": (
        ("is effective", "Figure 2, RQ1", _EFFECTIVE),
        ("lower loses", "Figure 2, RQ1", _LIMITED),
        ("above", "Figure 2, RQ1", _LIMITED),
        ("", "Figure 2, RQ1", _UPPER),
    ),
    "dependent": (
        ("lower's disparity", "Figure 3, RQ2", "the lower baseline predicts a disproportionately smaller mean positive "
         "probability for the sensitive group as the probability of the bias increases"),
        ("goes to", "Figure 3, RQ2", "the other baselines [...] incorrectly impose a statistical disparity of zero"),
        ("", "Figure 3, RQ2", "we achieve the statistical disparity of the upper baseline, which is no longer expected "
         "to be close to zero"),
    ),
    "assumption": (
        ("loses less", "Figure 4, RQ3", "around this optimum, the sensitivity for a parameter estimation error is "
         "small"),
        ("", "Figure 4, RQ3", "the trained classifier achieves the highest accuracy and a statistical disparity "
         "closest to the upper baseline when the parameters in the program are chosen to match the actual bias "
         "probability"),
    ),
    "student": _STUDENT,
    "student-grade": _STUDENT,
    "student-grouped": _STUDENT,
    "faces": (
        ("gains a part", "Figure 6, RQ6", "our method achieves part of the increase in F1 score of the upper baseline"),
        ("equalized odds", "Figure 8, appendix", _CONSISTENT),
        ("all three gain", "Figure 6, RQ6", _ALL_THREE),
        ("than only", "Figure 6, RQ6", _ALL_THREE),
        ("", "Figure 6, RQ6", "we also effectively progress the statistical disparity towards the level present in the "
         "unbiased data"),
    ),
}  # fmt: skip
_THRESHOLD = re.compile(r"\b(within|below|more than|less than|about|from β|at least|at most)\b")


def said(study: str, claim: str) -> str:
    """The paper's words and figure for a claim, and who chose its threshold; empty for claims of one's own."""
    for part, figure, words in SAID.get(study, ()):
        if part in claim:
            chosen = (
                "the number was chosen here" if _THRESHOLD.search(claim) else "no number to choose: the sign decides"
            )
            return f'"{words}" ({figure}); {chosen}'
    return ""
