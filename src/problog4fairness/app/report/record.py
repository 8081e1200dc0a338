"""What makes a page a record: who made it, for what, from which files and settings; the model card and a glossary."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from problog4fairness.app.report.facts import Facts, feature_names
from problog4fairness.app.report.markup import Content, Markup, join, table, tag, terms
from problog4fairness.data import plain_file
from problog4fairness.errors import P4FError
from problog4fairness.estimators import PACKAGES, WORDS, learner_facts, refit_learner
from problog4fairness.statistics import count

if TYPE_CHECKING:
    from problog4fairness.estimators import DebiasedClassifier


NOT_STATED = "not stated"


@dataclass(frozen=True)
class Source:
    """A file that a report was made from: its name without the folder, and what it holds (data, audit or model).

    ``sha256`` is empty where it was no file, ``rows`` None where it is no table; ``left_out`` counts rows by reason.
    """

    name: str
    role: str
    sha256: str = ""
    rows: int | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def file(cls, path: str | Path, role: str, rows: int | None = None) -> Source:
        """A file as it is now; ``-`` is standard input, of which nothing is left to be hashed."""
        if str(path) == "-":
            return cls("standard input", role, rows=rows)
        return cls(Path(path).name, role, sha256(path), rows)


@dataclass(frozen=True)
class Record:
    """Who made a report, for what, and from what; as stated.

    Attributes
    ----------
    title, author, purpose, date
        The heading of the page, who made it, what the model is for, and when.
    reviewed_by, approved_by
        Who signed it off, and when.
    sources
        The files behind the data, with their hashes.
    seed
        Of whatever was drawn at random for the report.
    """

    title: str | None = None
    author: str | None = None
    purpose: str | None = None
    date: str | None = None
    reviewed_by: str | None = None
    approved_by: str | None = None
    sources: Sequence[Source] = ()
    seed: int = 0


def sha256(path: str | Path, most: int | None = None) -> str:
    """The hash of a plain file, which may have so many bytes."""
    with plain_file(path) as file:
        if most is not None and os.fstat(file.fileno()).st_size > most:
            raise P4FError(f"{path} has more than {most:,} bytes")
        return hashlib.file_digest(file, "sha256").hexdigest()


def model_hash(model: DebiasedClassifier) -> str | None:
    """The hash of the file that the model is saved as; None where it cannot be saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.p4f"
        try:
            model.save(path)
        except P4FError:
            return None
        return sha256(path)


def record_section(facts: Facts, made: Record) -> Markup:
    """The section: what was stated, files with their hashes, settings, and lines to sign."""
    stated = {
        "Date": made.date or NOT_STATED,
        "Author": made.author or NOT_STATED,
        "Purpose and intended use": made.purpose or NOT_STATED,
        **{who: name for who, name in (("Reviewed by", made.reviewed_by), ("Approved by", made.approved_by)) if name},
    }
    parts: list[Content] = [terms(stated), tag("h3", "Files"), _files(facts, made), tag("h3", "Model and settings")]
    parts += [terms(_settings(facts, made)), _signatures(stated)]
    return join(parts, "\n")


def _files(facts: Facts, made: Record) -> Markup:
    sources = list(made.sources) or [
        Source("a table in memory", "data", rows=len(facts.data) + facts.dropped),
        *([] if facts.audit is None else [Source("a table in memory", "audit", rows=len(facts.audit.sample))]),
    ]
    rows = []
    for source in sources:
        left = {reason: number for reason, number in source.left_out.items() if number}
        if source.role == "data" and facts.dropped:
            left[f"no {facts.label.column}"] = facts.dropped
        rows.append(
            [
                source.role,
                source.name,
                "" if source.rows is None else count(source.rows),
                "; ".join(f"{n:,}: {why}" for why, n in left.items()) or ("" if source.rows is None else "none"),
                tag("code", source.sha256 or "–"),
            ]
        )
    header = ["What", "File", "Rows read", "Rows left out", "SHA-256"]
    return table(header, rows, caption="What this report was made from", numbers=(2,))


def _settings(facts: Facts, made: Record) -> dict[str, Content]:
    model = facts.model
    learner = refit_learner(model)
    options = {
        name: value
        for name, value in model.get_params(deep=False).items()
        if name not in ("belief", "learner", "verbose") and value is not None
    }
    return {
        "Model, SHA-256": tag("code", model_hash(model) or "–"),
        "Learner": tag("code", _shown(learner)),
        "Rounds of training": count(model.n_iter_),
        "Options": ", ".join(f"{name} = {value}" for name, value in options.items()) or "none",
        "Features": ", ".join(feature_names(model)),
        "Sensitive": ", ".join(facts.belief.columns.sensitive) or "none",
        "Threshold": f"{facts.label.good} is decided where its probability is at least 0.5"
        if len(facts.label.values) == 2
        else "none: the likeliest of the classes is decided",
        "Seed of the report": str(made.seed),
        "Versions": ", ".join(f"{name} {version(name)}" for name in PACKAGES),
    }


def _shown(learner: Any) -> str:
    """A learner with all its settings."""
    settings = ", ".join(f"{name}={value!r}" for name, value in vars(learner).items() if not name.startswith("_"))
    return re.sub(r" object at 0x\w+", "", f"{type(learner).__name__}({settings})")


def _signatures(stated: Mapping[str, str]) -> Markup:
    """Lines to sign on paper, for whom nobody signed yet."""
    missing = (who for who in ("Made by", "Reviewed by", "Approved by") if who not in stated)
    lines = (tag("p", f"{who}, date", class_="sign") for who in missing)
    return tag("div", *lines, class_="signatures")


# What is asked for, in the order of data governance and technical documentation, and the sections that answer it.
ASKED = (
    ("Assumptions on what the data measure and represent", ("belief", "limits")),
    ("Origin of the data, and how they were labelled", ("record", "belief")),
    ("Examination for bias that may harm people or discriminate", ("changes", "groups", "check")),
    ("Measures to detect, prevent and mitigate it", ("belief", "learner", "comparison")),
    ("Gaps and shortcomings of the data", ("limits", "parameters")),
    ("Provenance: files, versions, settings, how to make it again", ("record",)),
    ("Accuracy and errors, by group", ("changes", "groups")),
    ("Foreseeable limits, and what follows from a wrong assumption", ("limits", "sensitivity", "uncertainty")),
    ("Human oversight: which cases to look at, and why", ("suspects",)),
)

GLOSSARY = {
    "Record, recorded": "What the data say, whether it is right or not.",
    "Fair": "What should have been recorded: the label without the distortion that the belief describes.",
    "Belief": "The stated assumption on how the recorded data came from the fair ones: a program to be read.",
    "Parameter": "A probability in the belief, such as how often a fair label was recorded as the other one.",
    "Audit, audited rows": "Rows whose fair label somebody has determined.",
    "Sensitive column, group": "The column by which people may have been treated differently, and one of its values.",
    "This model": "The classifier of the fair label that was learned through the belief.",
    "Trained on recorded labels": "The same learner, which takes recorded labels as fair.",
    "Without the sensitive column": "The same, without the sensitive column. Other columns may stand in for it.",
    "Point": "One percentage point: the difference between 31% and 32%.",
    "Disparity": "The share of one group that gets the favourable label minus that of the other, in points.",
    "95% interval": "Where a number may lie because the rows at hand are a sample; 19 of 20 such intervals contain it.",
}  # fmt: skip


def card_section(facts: Facts, made: Record, sections: Mapping[str, str]) -> Markup:
    """Model card, and the table of what is asked for; ``sections`` are the headings of those that are on the page."""
    learned = learner_facts(facts.model)["learner"]
    audited: Content = "none"
    if facts.audit is not None:
        audited = join([count(len(facts.audit.sample), "audited row"), "; ", _link("groups", "by group")])
    fields: dict[str, Content] = {
        "Model": f"A classifier of {facts.label.column} as it should have been recorded: "
        f"{WORDS.get(learned, learned)} of {count(len(feature_names(facts.model)), 'column')}",
        "Intended use": made.purpose or NOT_STATED,
        "Not for": "people unlike those in the data; as the only ground of a decision about anybody",
        "Groups": "; ".join(group for division in facts.divisions for group in division.grouping.groups),
        "Training data": f"{count(len(facts.data), 'row')} of recorded data, given for this report",
        "Evaluation data": audited,
        "Metrics": "share of right decisions, kinds of errors, and disparity, each by group and with intervals",
        "Limits": _link("limits", "Limits and warnings"),
    }
    rows = [
        [asked, join([_link(name, sections[name]) for name in where if name in sections], ", ") or "not on this page"]
        for asked, where in ASKED
    ]
    text = (
        "What laws on automated decisions commonly ask to be documented, and where this page speaks of it. The page "
        "states what was found; whether that is enough is for those who are responsible to say."
    )
    return join(
        [terms(fields), tag("p", text), table(["Asked for", "Answered in"], rows, caption="Where to look")], "\n"
    )


def glossary_section() -> Markup:
    """The words of the page."""
    return terms(GLOSSARY)


def _link(section: str, words: str) -> Markup:
    return tag("a", words, href=f"#{section}")
