"""What was compiled once is found again; what is damaged is compiled again."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from problog4fairness import Program
from problog4fairness.errors import LimitError, P4FError
from problog4fairness.program.sandbox import cache
from problog4fairness.program.sandbox import process as sandbox

TEXT = "p1::a. nn(h,x)::b. 0.2::c; 0.3::d. e :- a, \\+b. e :- c. query(e). evidence(\\+d)."
VALUES = {"nn": {"h": 0.25}, "parameters": {"p1": 0.5}}


def answer(text: str = TEXT) -> float:
    return Program(text).probability(**VALUES)["e"].item()


@pytest.fixture
def folder(tmp_path, monkeypatch, forget):
    """An empty cache, and a process that remembers nothing."""
    monkeypatch.setenv("P4F_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tasks(monkeypatch):
    """What the worker was asked to do."""
    asked = []
    original = sandbox.run

    def run(task, text, limits=None):
        asked.append(task)
        return original(task, text, limits)

    monkeypatch.setattr(sandbox, "run", run)
    return asked


def test_first_time_compiles_second_time_finds(folder, tasks, forget):
    first = answer()
    assert tasks == ["read", "compile"]
    assert len(list(folder.iterdir())) == 2
    forget()
    assert answer() == first
    assert tasks == ["read", "compile"]


def test_no_worker_is_needed_for_what_is_stored(folder, monkeypatch, forget):
    first = answer()
    diagram = Program(TEXT).diagram().mermaid()
    forget()

    def no_worker(*_):
        raise AssertionError("the worker was asked")

    monkeypatch.setattr(sandbox, "run", no_worker)
    assert answer() == first
    assert Program(TEXT).diagram().mermaid() == diagram
    with pytest.raises(AssertionError, match="the worker was asked"):
        answer(TEXT + " % other")


def test_memory_is_asked_before_the_disk(folder, tasks):
    first = answer()
    for path in folder.iterdir():
        path.unlink()
    assert answer() == first
    assert tasks == ["read", "compile"]


def test_stored_as_plain_json(folder):
    answer()
    for path in folder.iterdir():
        assert path.suffix == ".json"
        content = path.read_bytes()
        stored = json.loads(content)
        assert set(stored) == {"digest", "payload"}
        assert hashlib.sha256(stored["payload"].encode()).hexdigest() == stored["digest"]
        assert isinstance(json.loads(stored["payload"]), dict)
        with pytest.raises((pickle.UnpicklingError, ValueError, EOFError, KeyError, IndexError)):
            pickle.loads(content)


def test_no_pickle_in_the_sources():
    for path in sorted(cache.Path(cache.__file__).parents[1].rglob("*.py")):
        words = path.read_text(encoding="utf-8").split()
        assert "pickle" not in words, path
        assert "marshal" not in words, path


def _flip_payload(content: bytes) -> bytes:
    stored = json.loads(content)
    return json.dumps({**stored, "payload": stored["payload"].replace("0.2", "0.7").replace("e", "f", 1)}).encode()


def _sealed(payload: object) -> bytes:
    text = json.dumps(payload)
    return json.dumps({"digest": hashlib.sha256(text.encode()).hexdigest(), "payload": text}).encode()


DAMAGE = {
    "empty": lambda _: b"",
    "half of it": lambda content: content[: len(content) // 2],
    "last byte missing": lambda content: content[:-1],
    "one byte changed": lambda content: content.replace(b"0.2", b"0.3", 1) if b"0.2" in content else content[:-3],
    "zeros": lambda content: bytes(len(content)),
    "noise": lambda _: os.urandom(500),
    "not UTF-8": lambda _: b"\xff\xfe\xff",
    "other JSON": lambda _: b"[1, 2]",
    "a number": lambda _: b"7",
    "null": lambda _: b"null",
    "no payload": lambda _: b'{"digest": "x"}',
    "payload that is no text": lambda _: b'{"digest": "x", "payload": 7}',
    "wrong digest": lambda content: json.dumps({**json.loads(content), "digest": "0" * 64}).encode(),
    "other payload": _flip_payload,
    "deep nesting": lambda _: b"[" * 100_000,
    "a pickle": lambda _: pickle.dumps({"digest": "x", "payload": "y"}),
    "two files in one": lambda content: content + content,
}
FOREIGN = {
    "sealed, but null": _sealed(None),
    "sealed, but empty": _sealed({}),
    "sealed, but a list": _sealed([1, 2]),
    "sealed, but other keys": _sealed({"leaves": 7, "queries": "x"}),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_file_is_replaced(name, folder, tasks, forget):
    first = answer()
    sound = {path: path.read_bytes() for path in folder.iterdir()}
    for path, content in sound.items():
        path.write_bytes(DAMAGE[name](content))
        assert path.read_bytes() != content
    forget()
    assert answer() == first
    assert tasks == ["read", "compile"] * 2
    for path in sound:
        stored = json.loads(path.read_bytes())
        assert hashlib.sha256(stored["payload"].encode()).hexdigest() == stored["digest"]
    forget()
    assert answer() == first
    assert len(tasks) == 4


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_file_is_replaced(name, folder, forget):
    """Well-formed, with the right digest, and yet no program."""
    first = answer()
    for path in folder.iterdir():
        path.write_bytes(FOREIGN[name])
    forget()
    assert answer() == first


def test_folder_in_place_of_a_file(folder, forget):
    first = answer()
    for path in folder.iterdir():
        path.unlink()
        path.mkdir()
    forget()
    assert answer() == first


@pytest.mark.parametrize("place", ["file", "below a file", "/dev/null/cache", "/proc/cache"])
def test_folder_that_cannot_be_written(place, tmp_path, monkeypatch, forget):
    (tmp_path / "file").write_text("in the way")
    path = {"file": tmp_path / "file", "below a file": tmp_path / "file" / "below"}.get(place, place)
    monkeypatch.setenv("P4F_CACHE", str(path))
    first = answer()
    forget()
    assert answer() == first
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(folder, forget):
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    first = answer()
    forget()
    assert answer() == first
    assert not list(folder.iterdir())
    folder.chmod(stat.S_IRWXU)


def test_full_disk(folder, monkeypatch, forget):
    """Nothing half-written stays behind."""

    def no_space(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        first = answer()
    assert not list(folder.iterdir())
    forget()
    assert answer() == first


def test_errors_are_not_stored(folder, tasks, forget):
    for _ in range(2):
        with pytest.raises(P4FError):
            Program("query(a).\n1.5::a.")
        forget()
    assert tasks == ["read", "read"]
    assert not folder.exists() or not list(folder.iterdir())


def test_a_limit_is_not_stored(folder, forget):
    """The same text may succeed under a wider limit."""
    text = "a :- between(1,3000,X), X < 0. 0.5::e. query(e). query(a). p1::q. nn(h,x)::r. s :- q, r. query(s)."
    with pytest.raises(LimitError):
        Program(text, limits=sandbox.Limits(seconds=0.001)).compile()
    forget()
    assert answer(text) == 0.5


def test_key_holds_text_task_and_versions(folder, monkeypatch):
    names = {cache._path("compile", TEXT), cache._path("read", TEXT), cache._path("compile", TEXT + " ")}
    assert len(names) == 3
    assert cache._path("compile", TEXT) in names
    monkeypatch.setattr(cache, "_versions", lambda: "another problog")
    assert cache._path("compile", TEXT) not in names


def test_key_changes_with_the_libraries(monkeypatch):
    before = cache._versions.__wrapped__()
    monkeypatch.setattr(cache, "version", lambda name: "99" if name == "PySDD" else "2.3")
    assert cache._versions.__wrapped__() != before


def test_default_folder_is_the_users(monkeypatch, tmp_path):
    monkeypatch.delenv("P4F_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(cache.sys, "platform", "linux")
    assert cache.folder() == tmp_path / "problog4fairness"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / ".cache" / "problog4fairness"


def test_many_at_once(folder, forget):
    """Readers see whole files or none."""

    def ask(number):
        forget()
        return answer(TEXT + f" % {number % 3}")

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(ask, range(30)))
    assert len(answers) == 1
    assert {path.suffix for path in folder.iterdir()} == {".json"}


def test_the_folder_and_the_memory_are_bounded(folder, monkeypatch):
    monkeypatch.setattr(cache, "ON_DISK", 6_000)
    for number in range(20):
        assert Program(f"0.25::a{number}. query(a{number}).").probability()[f"a{number}"].item() == 0.25
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 6_000
    monkeypatch.setattr(cache, "LARGEST", 100)
    before = {path.name for path in folder.iterdir()}
    assert answer() == pytest.approx(answer())
    assert {path.name for path in folder.iterdir()} == before
    kept = cache.Recent(100)
    for number in range(50):
        kept.keep(number, str(number), 30)
    assert [number for number in range(50) if kept.get(number)] == [47, 48, 49]
    kept.keep(1, "large", 101)
    assert kept.get(1) is None
