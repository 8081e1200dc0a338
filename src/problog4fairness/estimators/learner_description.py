"""What learned a model: the learner, how it was chosen, and how it was calibrated; as data and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from problog4fairness.estimators.calibration import choice_of
from problog4fairness.learners import Calibrated

if TYPE_CHECKING:
    from problog4fairness.estimators.classifier import DebiasedClassifier

# How learners are called in sentences; another one goes by its name.
WORDS = {"linear": "a linear model", "boosted": "boosted trees", "network": "networks"}
# Standard errors within which a margin may be chance.
CHANCE = 2.0


def learner_facts(model: DebiasedClassifier) -> dict[str, Any]:
    """The learner, the choice (None where there was none), the calibration (None likewise), and how training went."""
    choice, fitted, calibration = choice_of(model.fitted_), model.fitted_, None
    if isinstance(fitted, Calibrated):
        calibration = {name: getattr(fitted, name) for name in ("slope", "shifts", "gain", "error")}
        fitted = fitted.fitted
    validation = model.history_.get("validation")
    return {
        "learner": fitted.kind if choice is None else choice.chosen,
        "choice": None if choice is None else choice.choice,
        "calibration": calibration,
        "rounds": model.n_iter_,
        "validation_loss": min(validation) if validation else None,
    }


def learner_words(model: DebiasedClassifier) -> list[str]:
    """The same in sentences, after whether the model uses the group."""
    facts = learner_facts(model)
    name = WORDS.get(facts["learner"], facts["learner"])
    if facts["choice"] is None:
        sentences = [f"Learned by {name}, in {_rounds(facts)}."]
    else:
        others = [
            f"{WORDS.get(other, other)} {row.loss:.4f} (behind by {row.margin:.4f} ± {CHANCE * row.error:.4f}"
            f"{', which may be chance' if row.margin <= CHANCE * row.error else ''})"
            for other, row in facts["choice"].iterrows()
            if other != facts["learner"]
        ]
        loss = facts["choice"].loc[facts["learner"], "loss"]
        sentences = [
            f"Learned by {name}, in {_rounds(facts)}, chosen by the loss of recorded rows that were held out: "
            f"{loss:.4f}, against {' and '.join(others)}."
        ]
    if facts["calibration"] is not None:
        slope, shifts = facts["calibration"]["slope"], facts["calibration"]["shifts"]
        moved = ", ".join(f"{shift:+.2f}" for shift in shifts)
        sentences.append(
            f"Calibrated by {model.audited_} audited rows: log-odds times {slope:.2f}, shifted by {moved}; their log "
            f"loss out of fold fell by {facts['calibration']['gain']:.3f}."
        )
    return [str(model.group_use_), *sentences] if model.group_use_.columns else sentences


def _rounds(facts: dict[str, Any]) -> str:
    kind = {"linear": "steps", "network": "epochs"}.get(facts["learner"], "rounds")
    loss = facts["validation_loss"]
    return f"{facts['rounds']} {kind}" + ("" if loss is None else f" (validation loss {loss:.4f})")
