"""What reviewers said about rows, kept in one file to which lines are only ever added.

Each answer is one line of JSON, on the disk before the page shows the next row. A process that is killed leaves at
most a last line without an end, which is not read; an answer that is taken back is a line that says so.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path
from typing import Any

from problog4fairness.data import MEBIBYTE, parse_json, read_file
from problog4fairness.errors import P4FError

# Of the file of all answers, and of a note.
MOST_BYTES, MOST_LINES = 64 * MEBIBYTE, 200_000
# Reviewers whose agreement is looked at, two by two.
MOST_REVIEWERS = 50


@dataclass(frozen=True)
class Answer:
    """What one reviewer said about one row; the label is None where the row was skipped."""

    row: int  # its number in the table, from 1
    reviewer: str
    label: str | None
    note: str = ""
    at: str = ""  # when, in UTC


@dataclass(frozen=True)
class Agreement:
    """Of how many rows that two reviewers both answered they said the same.

    ``kappa`` is Cohen's, the agreement beyond what chance gives; None where it says nothing.
    """

    first: str
    second: str
    rows: int
    same: int
    kappa: float | None


class Reviews:
    """All answers of a project, in a file that the first one makes; ``labels`` are what a fair label may be."""

    def __init__(self, path: Path, labels: tuple[str, ...]) -> None:
        self._path, self._labels, self._lock = path, labels, threading.Lock()
        # The size of the file when it was read, and its lines.
        self._read: tuple[int, list[dict[str, Any]]] = (0, [])
        self._stood: tuple[int, list[Answer]] = (0, [])

    def answer(self, row: int, reviewer: str, label: str | None, note: str = "") -> Answer:
        """Keep an answer; None skips the row."""
        if label is not None:
            self._check(label)
        answer_given = Answer(row, checked_name(reviewer), label, note, _now())
        self._append(vars(answer_given))
        return answer_given

    def undo(self, reviewer: str) -> Answer | None:
        """Take back the last answer of a reviewer; None where there is none."""
        mine = [answer for answer in self._standing() if answer.reviewer == reviewer]
        if not mine:
            return None
        self._append({"undo": mine[-1].row, "reviewer": reviewer, "at": _now()})
        return mine[-1]

    def of(self, reviewer: str) -> dict[int, Answer]:
        """The answers of one reviewer by row, in the order in which they were given."""
        return {answer.row: answer for answer in self._standing() if answer.reviewer == reviewer}

    def size(self) -> int:
        """Bytes on the disk: another number when somebody said something."""
        return self._path.stat().st_size if self._path.exists() else 0

    def reviewers(self) -> list[str]:
        """Everybody who answered, in order of their first answer."""
        return list(dict.fromkeys(answer.reviewer for answer in self._standing()))

    def by_row(self) -> dict[int, list[Answer]]:
        """For each row the answers that are labels."""
        answers: dict[int, list[Answer]] = {}
        for answer in self._standing():
            if answer.label is not None:
                answers.setdefault(answer.row, []).append(answer)
        return answers

    def spoken_of(self) -> set[int]:
        """The rows about which anybody ever said something, if only to take it back."""
        return {line["undo"] if "undo" in line else line["row"] for line in self._lines() if "settled" not in line}

    def settle(self, row: int, label: str | None, reviewer: str) -> None:
        """Decide a row on which reviewers said different things; None leaves it open again."""
        if label is not None:
            self._check(label)
        self._append({"settled": row, "label": label, "reviewer": checked_name(reviewer), "at": _now()})

    def settled(self) -> dict[int, str]:
        """The labels of rows that were decided."""
        last = {line["settled"]: line["label"] for line in self._lines() if "settled" in line}
        return {row: label for row, label in last.items() if label is not None}

    def agreed(self) -> dict[int, str]:
        """The fair label of each row on which nobody contradicts anybody, or which was decided since."""
        settled = self.settled()
        same = {row: str(answers[0].label) for row, answers in self.by_row().items() if _all_same(answers)}
        return same | {row: settled[row] for row in self.conflicts() if row in settled}

    def conflicts(self) -> dict[int, list[Answer]]:
        """The rows on which reviewers said different things, decided or not."""
        return {row: answers for row, answers in self.by_row().items() if not _all_same(answers)}

    def agreements(self) -> list[Agreement]:
        """How far each two reviewers agree who answered the same rows; of very many, those who answered most."""
        labels: dict[str, dict[int, str]] = {}
        for answer in self._standing():
            if answer.label is not None:
                labels.setdefault(answer.reviewer, {})[answer.row] = answer.label
        if len(labels) > MOST_REVIEWERS:
            labels = dict(sorted(labels.items(), key=lambda pair: -len(pair[1]))[:MOST_REVIEWERS])
        agreements = []
        for first, second in combinations(labels, 2):
            pairs = [(label, labels[second][row]) for row, label in labels[first].items() if row in labels[second]]
            if pairs:
                same = sum(one == other for one, other in pairs)
                agreements.append(Agreement(first, second, len(pairs), same, _kappa(pairs, self._labels)))
        return agreements

    def answers(self) -> list[Answer]:
        """All answers that stand, in the order in which they were given."""
        return self._standing()

    def take(self, labels: Mapping[int, str], reviewer: str) -> int:
        """Add answers from a file; those that the reviewer gave already are kept as they are."""
        known = self.of(reviewer)
        new = {row: label for row, label in labels.items() if row not in known}
        for row, label in new.items():
            self.answer(row, reviewer, label)
        return len(new)

    def _check(self, label: str) -> None:
        if label not in self._labels:
            raise P4FError(f"a fair label is {' or '.join(self._labels)}, not {label!r}")

    def _append(self, line: Mapping[str, Any]) -> None:
        data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        with self._lock, self._path.open("ab") as file:
            if file.tell() and not self._ends_well():
                data = b"\n" + data  # after a line that a killed process did not finish
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _ends_well(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"

    def _standing(self) -> list[Answer]:
        """The last answer of each reviewer to each row, in the order of these, without those that were taken back."""
        lines = self._lines()
        if self._stood[0] == self._read[0]:
            return self._stood[1]
        answers: dict[tuple[int, str], Answer] = {}
        for line in lines:
            if "undo" in line:
                answers.pop((line["undo"], line["reviewer"]), None)
            elif "row" in line:
                answer = Answer(**line)
                answers.pop((answer.row, answer.reviewer), None)
                answers[answer.row, answer.reviewer] = answer
        self._stood = self._read[0], list(answers.values())
        return self._stood[1]

    def _lines(self) -> list[dict[str, Any]]:
        """All lines; read again where the file, which only ever grows, has another size."""
        size = self.size()
        if size != self._read[0]:
            self._read = (size, list(self._read_lines()))
        return self._read[1]

    def _read_lines(self) -> Iterator[dict[str, Any]]:
        if not self._path.exists():
            return
        for number, raw in enumerate(read_file(self._path, MOST_BYTES).split(b"\n"), start=1):
            try:
                line = parse_json(raw, 100, 3) if raw.strip() else None
            except ValueError:
                continue  # what a killed process left
            if line is None:
                continue
            if number > MOST_LINES:
                raise P4FError(f"{self._path.name} has more than {MOST_LINES:,} lines")
            if not _is_answer(line):
                raise P4FError(f"{self._path.name}, line {number}: this is no answer of a reviewer")
            yield line


def checked_name(reviewer: str) -> str:
    """The name of a reviewer, if it is one."""
    name = " ".join(reviewer.split())
    if not name or len(name) > 60 or not name.isprintable():
        raise P4FError("a reviewer has a name of 1 to 60 letters")
    return name


def _is_answer(line: Any) -> bool:
    if not isinstance(line, dict) or not isinstance(line.get("reviewer"), str):
        return False
    if set(line) == {"undo", "reviewer", "at"}:
        return _is_row(line["undo"])
    if set(line) == {"settled", "label", "reviewer", "at"}:
        return _is_row(line["settled"]) and isinstance(line["label"], str | None)
    known = {"row", "reviewer", "label", "note", "at"}
    texts = all(isinstance(line.get(name), str) for name in ("note", "at"))
    return set(line) == known and texts and _is_row(line["row"]) and isinstance(line["label"], str | None)


def _all_same(answers: list[Answer]) -> bool:
    return len({answer.label for answer in answers}) == 1


def _kappa(pairs: list[tuple[str, str]], labels: tuple[str, ...]) -> float | None:
    """Cohen's kappa: each reviewer has shares of labels of their own, which tell how often they agree by chance."""
    count = len(pairs)
    shares = [[sum(pair[who] == label for pair in pairs) / count for label in labels] for who in (0, 1)]
    by_chance: float = sum(one * other for one, other in zip(*shares, strict=True))
    if by_chance >= 1:
        return None
    return (sum(one == other for one, other in pairs) / count - by_chance) / (1 - by_chance)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _is_row(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 48
