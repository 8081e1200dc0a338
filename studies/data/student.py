"""Pupils whose exams are known, and what primed annotators thought of them: labels with a real human bias.

The pupils are Cortez and Silva's (2008), of two Portuguese schools; the labels are Lenders and Calders' (2023), who
showed people eight pupils at a time, after telling some of them that boys do worse, and asked for grades and a ranking.
The exam is the fair label, the annotators' opinion the recorded one.

The files are not part of this package; :func:`student` says where to get them.
"""

from __future__ import annotations

import hashlib
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from problog4fairness.errors import P4FError
from studies.data.spreadsheet import read_sheet

if TYPE_CHECKING:
    import pandas as pd

Reading: TypeAlias = Literal["rank", "grade"]

MATHS, PORTUGUESE = "student-mat.csv", "student-por.csv"
LABELS = "PortugueseStudentsWithBiasedLabels.xlsx"
_UCI = "UCI data set 320 (doi 10.24432/C5TG7T)"
_GITHUB = "the GitHub repository calathea21/benchmark_data_analysis, commit 391f52f2"
# For each file its publisher, and the SHA-256 of the version that everything here was checked with.
FILES = {
    LABELS: (_GITHUB, "c63f5d937e182ad7a90a0f2d0dbbd9ed09b3a2b10b1a5109311b3a44291c781b"),
    MATHS: (_UCI, "659f3984643c2def53ba5e49f551c6ce3657039f9c25306cacb8f43b818a5190"),
    PORTUGUESE: (_UCI, "3fb408fe4b66d4cdb90ad4ec5e3fb6de94ba662d0471a3d46c03da483069f76b"),
}

FEATURES = ("studytime", "freetime", "romantic", "Walc", "goout", "Parents_edu", "absences", "reason")
# What the publishers of the grades merge the two subjects by, in the R script that comes with their files.
PUPIL = (
    "school", "sex", "age", "address", "famsize", "Pstatus", "Medu", "Fedu", "Mjob", "Fjob", "reason", "nursery",
    "internet",
)  # fmt: skip
# Columns that the label table copies from the grades as they are: they prove that rows were matched rightly.
_COPIED = ("sex", "romantic", "reason", "G3")


@dataclass(frozen=True)
class StudentData:
    """A row per pupil and annotator; all tables have the same rows.

    Attributes
    ----------
    features
        What the annotators saw, without sex, and without the first name that each pupil was given, which tells it.
    sensitive
        1 for boys, against whom annotators were primed, 0 for girls.
    fair
        1 where the pupil passed the exam (a grade of 10 or more).
    recorded
        1 where the annotator thought so, by one of two readings; see :func:`student`.
    participant
        The annotator; each labelled eight pupils.
    pupil
        Equal for rows of the same pupil, who may occur in both subjects: for a split that keeps pupils together.
    primed
        How the annotator was primed: ``"Statistics"``, ``"CaseBased"``, or ``""`` for not at all.
    reading
        The reading of the recorded label.
    raw
        The 33 columns of the grades' files, G3 (the exam) included, where they were asked for.
    """

    features: pd.DataFrame
    sensitive: pd.Series[int]
    fair: pd.Series[int]
    recorded: pd.Series[int]
    participant: pd.Series[int]
    pupil: pd.Series[int]
    primed: pd.Series[str]
    reading: Reading = "rank"
    raw: pd.DataFrame | None = None


def student(
    folder: Path | str | None = None, *, reading: Reading = "rank", subject: bool = False, raw: bool = False
) -> StudentData:
    """Read the student data: 856 rows, half of them boys.

    Three files are needed, under their publishers' names: ``student-mat.csv`` and ``student-por.csv`` (UCI data set
    320, doi 10.24432/C5TG7T) and ``PortugueseStudentsWithBiasedLabels.xlsx`` (calathea21/benchmark_data_analysis on
    GitHub). Each is checked against the SHA-256 of the version used here before it is parsed.

    Rows of the label table are matched to those of the grades by its column ``index``: the position among the maths
    and then the Portuguese pupils, those with a final grade of 0 left out. Two rows belong to the same *pupil* where
    all thirteen columns agree by which the publishers of the grades merge the subjects: school, sex, age, address,
    family, parents, reason, nursery and internet. That makes 586 pupils of 856 rows. A few of them may be two pupils
    who look alike; a split that keeps them together is the stricter one.

    Parameters
    ----------
    folder
        Where the files are; by default the folder ``student`` in the one that the environment variable ``P4F_DATA``
        names.
    reading
        What the annotators' opinion is. ``"rank"``: of eight pupils, places 7 and 8 are recorded as a fail, 1 and 2 as
        a pass, and the others keep the fair label. ``"grade"``: a predicted grade of 10 or more is a pass.
    subject
        Whether to add a feature ``subject``, maths or portuguese, which annotators did not see.
    raw
        Whether to join the columns of the grades' files, as ``raw``.

    Examples
    --------
    >>> data = student()  # doctest: +SKIP
    >>> data.recorded.groupby(data.sensitive).mean().round(3).to_dict()  # doctest: +SKIP
    {0: 0.757, 1: 0.579}
    """
    if reading not in ("rank", "grade"):
        raise P4FError(f"reading must be 'rank' or 'grade', not {reading!r}")
    files = _files(_folder(folder))
    labels, grades = _labels(files[LABELS]), _grades(files)
    grades = grades.iloc[labels["index"].to_numpy()].reset_index(drop=True)
    if not (grades[list(_COPIED)] == labels[list(_COPIED)]).all(axis=None):
        raise P4FError(f"{LABELS} does not fit {MATHS} and {PORTUGUESE}: rows of the same pupil differ")
    features = labels[list(FEATURES)].copy()
    if subject:
        features["subject"] = grades["subject"]
    fair = labels["Pass"].astype("int64")
    return StudentData(
        features=features,
        sensitive=(labels["sex"] == "M").astype("int64").rename("sex"),
        fair=fair.rename("fair"),
        recorded=_recorded(labels, fair, reading).rename("recorded"),
        participant=labels["ParticipantID"].rename("participant"),
        pupil=grades.groupby(list(PUPIL), sort=False).ngroup().astype("int64").rename("pupil"),
        primed=labels["StereotypeActivation"].replace("None", "").str.strip().rename("primed"),
        reading=reading,
        raw=grades.drop(columns="subject") if raw else None,
    )


def _folder(folder: Path | str | None) -> Path:
    if folder is not None:
        return Path(folder)
    data = os.environ.get("P4F_DATA")
    if not data:
        raise P4FError(
            f"the student data are not here: get {MATHS} and {PORTUGUESE} from {_UCI} and {LABELS} from {_GITHUB}, put "
            "them in a folder 'student' and set P4F_DATA to the folder above it"
        )
    return Path(data) / "student"


def _files(folder: Path) -> dict[str, bytes]:
    """The files' contents, each as its publisher released it."""
    found = {}
    for name, (publisher, digest) in FILES.items():
        file = folder / name
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            raise P4FError(f"{file} is missing; get {name} from {publisher} and put it there") from None
        except OSError as error:
            raise P4FError(f"{file} cannot be read: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise P4FError(
                f"{file} is not the file that was published (its SHA-256 is not {digest[:12]}...); get {name} again "
                f"from {publisher}"
            )
        found[name] = content
    return found


def _labels(content: bytes) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(read_sheet(content, LABELS))
    whole = [name for name in table.columns if table[name].dtype == "float64" and name != "PredictedGrade"]
    return table.astype(dict.fromkeys(whole, "int64"))


def _grades(files: dict[str, bytes]) -> pd.DataFrame:
    """The pupils that the label table counts: maths before Portuguese, nobody with a final grade of 0."""
    import pandas as pd

    subjects = {MATHS: "maths", PORTUGUESE: "portuguese"}
    tables = [pd.read_csv(io.BytesIO(files[name])).assign(subject=subject) for name, subject in subjects.items()]
    table = pd.concat(tables, ignore_index=True)
    return table[table["G3"] > 0].reset_index(drop=True)


def _recorded(labels: pd.DataFrame, fair: pd.Series[int], reading: Reading) -> pd.Series[int]:
    if reading == "grade":
        grade: pd.Series[int] = (labels["PredictedGrade"] >= 10).astype("int64")
        return grade
    rank = labels["PredictedRank"]
    return fair.mask(rank >= 7, 0).mask(rank <= 2, 1)
