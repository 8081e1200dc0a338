"""Small files in the layout of the published student data."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from studies.data.student import FEATURES, FILES, LABELS, MATHS, PORTUGUESE, PUPIL

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def sheet(rows: list[list[object]], *, shared: bool = False) -> bytes:
    """An .xlsx file with these rows; texts are written into their cells, or in a table beside the sheet."""
    strings: list[str] = []
    lines = []
    for number, row in enumerate(rows, 1):
        cells = []
        for column, value in enumerate(row):
            place = f"{chr(65 + column)}{number}"
            if isinstance(value, bool):
                cells.append(f'<c r="{place}" t="b"><v>{int(value)}</v></c>')
            elif isinstance(value, str) and shared:
                strings.append(value)
                cells.append(f'<c r="{place}" t="s"><v>{len(strings) - 1}</v></c>')
            elif isinstance(value, str):
                cells.append(f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>')
            elif value is None:
                cells.append(f'<c r="{place}"/>')
            else:
                cells.append(f'<c r="{place}" t="n"><v>{value}</v></c>')
        lines.append(f'<row r="{number}">{"".join(cells)}</row>')
    parts = {
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><sheetData>{"".join(lines)}</sheetData></worksheet>'
    }
    if shared:
        items = "".join(f"<si><t>{text}</t></si>" for text in strings)
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{SHEET}">{items}</sst>'
    return archive(parts)


def archive(parts: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, text)
    return stream.getvalue()


def write_files(folder: Path) -> dict[str, tuple[str, str]]:
    """Three files of the published layout with 4 + 5 pupils, two of whom are in both subjects; their hashes."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)

    def grades(ages: list[int], finals: list[int]) -> pd.DataFrame:
        count = len(ages)
        table = pd.DataFrame({name: ["x"] * count for name in PUPIL})
        table["age"], table["G3"], table["sex"] = ages, finals, ["F", "M", "M", "F", "M"][:count]
        table["romantic"], table["reason"] = "no", "course"
        return table.assign(absences=rng.integers(0, 30, count))

    maths, portuguese = grades([15, 16, 17, 18], [0, 9, 12, 14]), grades([15, 16, 17, 20, 21], [11, 8, 0, 0, 10])
    kept = pd.concat([maths, portuguese], ignore_index=True).query("G3 > 0").reset_index(drop=True)
    heading = ["index", "ParticipantID", "name", "sex", *FEATURES, "G3", "Pass", "PredictedGrade", "PredictedRank"]
    rows: list[list[object]] = [[*heading, "StereotypeActivation"]]
    for place, (rank, grade, primed) in zip(
        [5, 0, 3, 1, 4],
        [(7, 12.5, "None"), (1, 4, "CaseBased"), (3, 10, " "), (8, 9.5, "Statistics"), (6, 11, "None")],
        strict=True,
    ):
        pupil = kept.loc[place]
        copied = {"romantic": "no", "reason": "course"}
        rows.append(
            [place, 1, "Anna", pupil["sex"], *(copied.get(name, 2) for name in FEATURES), int(pupil["G3"]),
             bool(pupil["G3"] >= 10), grade, rank, primed]
        )  # fmt: skip
    (folder / LABELS).write_bytes(sheet(rows))
    maths.to_csv(folder / MATHS, index=False)
    portuguese.to_csv(folder / PORTUGUESE, index=False)
    return {
        name: (publisher, hashlib.sha256((folder / name).read_bytes()).hexdigest())
        for name, (publisher, _) in FILES.items()
    }
