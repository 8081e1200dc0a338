"""``p4f estimate`` counts a table piece by piece, and says what the rows themselves would have said."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest

pytestmark = [
    pytest.mark.filterwarnings(f"always::problog4fairness.{kind}")
    for kind in ("data.FileNote", "data.FileWarning", "audit.AuditWarning")
]
ROWS = 400
LABEL = ("--recorded", "granted", "--fair", "repaid")
FEATURE = ("--feature", "noted", "--fair-feature", "level")
SEX = ("--sensitive", "sex", "--group", "F")
ASKED = {
    "label": (*SEX, *LABEL),
    "label with gaps in all columns": ("gaps", *SEX, *LABEL),
    "many groups": ("--sensitive", "city", *LABEL),
    "by likelihood": (*SEX, *LABEL, "--noise"),
    "measurement": (*SEX, *FEATURE, "--belief", "measurement"),
    "measurement with gaps": ("gaps", *SEX, *FEATURE, "--belief", "measurement"),
    "two features": (*SEX, *FEATURE, "--feature", "flag", "--fair-feature", "mark", "--belief", "measurement"),
    "historical": (*SEX, *FEATURE, "--belief", "historical"),
    "historical with a label": ("gaps", *SEX, *FEATURE, *LABEL, "--belief", "historical"),
    "selective": ("unrecorded", *SEX, *LABEL, "--belief", "selective"),
    "positive-unlabelled": (*SEX, *LABEL, "--belief", "positive-unlabelled"),
    "a program": (*SEX, *LABEL, "--belief", "own.pl"),
    "a feature that is a number": (*SEX, "--feature", "age", "--fair-feature", "level", "--belief", "measurement"),
    "a label of three values": (*SEX, "--recorded", "level", "--fair", "repaid"),
}
PROGRAM = "nn(h,X)::y(X). nn(a,X)::a(X). p1::n(X) :- a(X). p2::m(X). r(X) :- y(X), \\+n(X), \\+m(X). ?- r(x)."


def audit(kind: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    repaid = rng.integers(0, 2, ROWS)
    level = rng.choice(["low", "mid", "high"], ROWS)
    frame = pd.DataFrame(
        {
            "row": range(ROWS),
            "sex": rng.choice(["F", "M"], ROWS),
            "city": rng.choice(["rome", "oslo", "New York"], ROWS),
            "repaid": repaid,
            "granted": np.where(rng.random(ROWS) < 0.2, 1 - repaid, repaid),
            "level": level,
            "noted": np.where(rng.random(ROWS) < 0.2, "mid", level),
            "mark": rng.integers(0, 2, ROWS),
            "flag": rng.integers(0, 2, ROWS),
            "age": rng.normal(size=ROWS),
        }
    )
    if kind == "gaps":
        some = frame.drop(columns="row").astype(object).mask(rng.random((ROWS, 9)) < 0.1)
        return some.assign(sex=some["sex"].where(some.index > 20))
    return frame.assign(granted=frame["granted"].where(rng.random(ROWS) < 0.7)) if kind == "unrecorded" else frame


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("asked", ASKED)
def test_pieces_say_what_the_rows_say(tmp_path, monkeypatch, inside, asked, suffix):
    monkeypatch.chdir(tmp_path)
    kind, words = (ASKED[asked][0], ASKED[asked][1:]) if not ASKED[asked][0].startswith("--") else ("", ASKED[asked])
    table = audit(kind).convert_dtypes() if suffix == "parquet" else audit(kind)
    (table.to_csv if suffix == "csv" else table.to_parquet)(f"audit.{suffix}", index=False)
    (tmp_path / "own.pl").write_text(PROGRAM)

    def told() -> tuple[object, ...]:
        runs = [inside("estimate", f"audit.{suffix}", *words, "-o", *own) for own in (["-"], ["b.pl", "--json"])]
        return tuple((run.returncode, run.stdout, run.stderr) for run in runs)

    monkeypatch.setattr("problog4fairness.data.io.reading.ROWS", 7)
    monkeypatch.setattr("problog4fairness.data.columns.PENDING", 20)
    pieces = told()
    monkeypatch.setattr("problog4fairness.data.io.reading.ROWS", 1 << 16)
    monkeypatch.setattr("problog4fairness.data.columns.counted_rows", pd.concat)
    assert pieces == told()
    assert (kind != "gaps") ^ ("rows were left out" in pieces[0][2] or "and were left out" in pieces[0][2])
    assert pieces[0][0] == (2 if asked.startswith("a ") and asked != "a program" else 0)


def test_counts_of_a_file_are_read(tmp_path, monkeypatch, inside):
    monkeypatch.chdir(tmp_path)
    counts = np.random.default_rng(1).integers(1, 4, ROWS)
    audit("").assign(p4f_count=counts).to_csv("audit.csv", index=False)
    counted = inside("estimate", "audit.csv", *SEX, *LABEL, "-o", "-")
    audit("").iloc[np.repeat(np.arange(ROWS), counts)].to_csv("audit.csv", index=False)
    assert counted == inside("estimate", "audit.csv", *SEX, *LABEL, "-o", "-")
    assert counted.returncode == 0


def test_memory_does_not_grow_with_the_table(tmp_path, monkeypatch, inside):
    monkeypatch.setattr("problog4fairness.data.io.reading.ROWS", 1 << 14)
    lines = "F,1,0,7\nF,1,1,8\nM,0,0,9\nM,1,1,7\nM,0,1,3\nF,0,0,2\n" * 10

    def peak(times: int) -> int:
        with (tmp_path / "audit.csv").open("w") as file:
            file.write("sex,repaid,granted,age\n")
            file.writelines(lines for _ in range(times))
        tracemalloc.start()
        run = inside("estimate", tmp_path / "audit.csv", *SEX, *LABEL, "-o", tmp_path / "b.pl")
        assert run.returncode == 0, run.stderr
        assert f"Estimated from {60 * times} audited rows" in (tmp_path / "b.pl").read_text()
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(1)
    # Rows that are kept are 24 bytes each at least: 34 megabytes more.
    assert peak(25_000) < peak(1_000) + (8 << 20)
