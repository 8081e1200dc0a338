"""What reviewers said survives everything but the disk."""

from __future__ import annotations

import json
import threading
import time

import pytest

from problog4fairness.app.studio.reviews import Agreement, Reviews
from problog4fairness.errors import P4FError


@pytest.fixture
def reviews(tmp_path):
    return Reviews(tmp_path / "reviews.jsonl", ("1", "0"))


def test_answers_are_there_for_the_next_process(reviews, tmp_path):
    reviews.answer(7, "ana", "1", "paid on time")
    reviews.answer(9, "ana", None)
    again = Reviews(tmp_path / "reviews.jsonl", ("1", "0"))
    assert [(said.row, said.label, said.note) for said in again.of("ana").values()] == [
        (7, "1", "paid on time"),
        (9, None, ""),
    ]
    assert again.agreed() == {7: "1"}


def test_undo_takes_back_one_answer_after_the_other(reviews):
    for row, label in ((1, "1"), (2, "0"), (3, None)):
        reviews.answer(row, "ana", label)
    reviews.answer(1, "ben", "0")
    assert reviews.undo("ana").row == 3
    assert reviews.undo("ana").row == 2
    assert list(reviews.of("ana")) == [1]
    assert reviews.undo("ana").row == 1
    assert reviews.undo("ana") is None
    assert reviews.of("ben")[1].label == "0"


def test_the_last_word_counts(reviews):
    reviews.answer(1, "ana", "1")
    reviews.answer(2, "ana", "1")
    reviews.answer(1, "ana", "0")
    assert reviews.agreed() == {1: "0", 2: "1"}
    assert reviews.undo("ana").row == 1


def test_a_line_that_a_killed_process_left_is_passed_over(reviews, tmp_path):
    reviews.answer(1, "ana", "1")
    file = tmp_path / "reviews.jsonl"
    whole = file.read_bytes()
    for cut in range(1, len(whole)):
        file.write_bytes(whole + whole[:cut])
        reviews.answer(2, "ana", "0")
        assert reviews.agreed() == {1: "1", 2: "0"}, cut
        file.write_bytes(whole)


def test_a_line_that_is_no_answer_is_named(reviews, tmp_path):
    reviews.answer(1, "ana", "1")
    with (tmp_path / "reviews.jsonl").open("a") as file:
        file.write(json.dumps({"row": "1", "reviewer": "ana", "label": 1, "note": "", "at": ""}) + "\n")
    with pytest.raises(P4FError, match=r"^reviews.jsonl, line 2: this is no answer of a reviewer$"):
        reviews.agreed()


def test_conflicts_are_listed_and_never_guessed(reviews):
    for row, ana, ben in ((1, "1", "1"), (2, "1", "0"), (3, "0", "0"), (4, "0", None)):
        reviews.answer(row, "ana", ana)
        reviews.answer(row, "ben", ben)
    assert reviews.agreed() == {1: "1", 3: "0", 4: "0"}
    assert list(reviews.conflicts()) == [2]
    # Observed agreement 2/3; by chance 4/9, as ana says 1 of two of three rows and ben of one.
    kappa = pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert reviews.agreements() == [Agreement("ana", "ben", 3, 2, kappa)]


def test_agreement_says_nothing_where_there_is_nothing_to_say(reviews):
    assert reviews.agreements() == []
    for who in ("ana", "ben"):
        reviews.answer(1, who, "1")
    assert reviews.agreements() == [Agreement("ana", "ben", 1, 1, None)]
    reviews.answer(2, "eve", "0")
    assert len(reviews.agreements()) == 1, "eve has no row in common with anybody"


def test_a_conflict_is_settled_and_opened_again(reviews):
    reviews.answer(1, "ana", "1")
    reviews.answer(1, "ben", "0")
    assert reviews.agreed() == {}
    reviews.settle(1, "0", "ana")
    assert (reviews.agreed(), list(reviews.conflicts())) == ({1: "0"}, [1])
    reviews.settle(1, None, "ana")
    assert reviews.agreed() == {}
    with pytest.raises(P4FError, match="a fair label is"):
        reviews.settle(1, "2", "ana")
    reviews.settle(1, "0", "ana")
    reviews.answer(1, "ben", "1")
    assert reviews.agreed() == {1: "1"}, "they agree now; what was settled is history"


def test_two_reviewers_at_once_lose_nothing(reviews):
    def work(name):
        for row in range(40):
            reviews.answer(row, name, "1" if row % 2 else "0")

    threads = [threading.Thread(target=work, args=(name,)) for name in ("ana", "ben")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reviews.of("ana")) == len(reviews.of("ben")) == 40
    assert [both.same for both in reviews.agreements()] == [40]


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\x00b", "a\x1b[2J"])
def test_a_reviewer_has_a_name(reviews, name):
    with pytest.raises(P4FError, match="a reviewer has a name"):
        reviews.answer(1, name, "1")


def test_a_third_label_is_refused(reviews):
    with pytest.raises(P4FError, match="a fair label is 1 or 0, not '2'"):
        reviews.answer(1, "ana", "2")


def test_answers_of_a_file_do_not_replace_given_ones(reviews):
    reviews.answer(1, "ana", "1")
    assert reviews.take({1: "0", 2: "0"}, "ana") == 1
    assert reviews.agreed() == {1: "1", 2: "0"}


def test_thousands_of_reviewers_take_seconds(tmp_path):
    lines = [
        json.dumps({"row": 1 + number // 3, "reviewer": f"r{number % 3000}", "label": "1", "note": "", "at": ""})
        for number in range(9000)
    ]
    (tmp_path / "reviews.jsonl").write_text("\n".join(lines) + "\n")
    reviews = Reviews(tmp_path / "reviews.jsonl", ("1", "0"))
    began = time.process_time()
    assert len(reviews.reviewers()) == 3000
    assert len(reviews.agreed()) == 3000
    assert isinstance(reviews.agreements(), list)
    assert reviews.conflicts() == {}
    assert all(reviews.of(f"r{number}") for number in range(200))
    assert time.process_time() - began < 5
