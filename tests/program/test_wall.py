"""The worker cannot open, import, start or connect to anything, whatever a program makes of problog."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from problog4fairness.program.sandbox import process as sandbox
from problog4fairness.program.sandbox import wall
from tests.program import spellings

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="parts of the wall are those of Linux")

PLAIN = "0.5::a. b :- \\+a. query(b)."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decoys")
    spellings.lay_decoys(folder, folder.parent / "mark")
    return folder


@pytest.fixture(scope="module")
def effective(folder):
    """The spellings by which problog itself runs or reads a file."""
    texts = spellings.programs(folder, 300)
    answers = spellings.run("nothing", texts, folder, folder.parent / "mark")
    return [text for text, (_, traces) in zip(texts, answers, strict=True) if traces]


def test_the_decoys_work(effective):
    """Otherwise the tests below would show nothing."""
    assert len(effective) > 300
    assert any("'library'(lists)" in text for text in effective)


@pytest.mark.parametrize("mode", spellings.MODES[1:])
def test_no_spelling_loads_a_file(mode, effective, folder):
    """The list alone holds, each part of the wall alone holds without the list, and so does the whole wall."""
    for text, (answer, traces) in zip(
        [PLAIN, *effective], spellings.run(mode, [PLAIN, *effective], folder, folder.parent / "mark"), strict=True
    ):
        assert not traces, text
        assert ("result" in answer) == (text == PLAIN) or mode != "list", text


def walled(code: str) -> str:
    """What Python prints when it runs ``code`` behind the wall."""
    script = "import os, sys, socket, subprocess, ctypes\n"
    script += "from problog4fairness.program.sandbox import wall\nwall.close()\n" + textwrap.dedent(code)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240)
    return run.stdout + run.stderr


@pytest.mark.parametrize(
    "attempt",
    [
        "open('/etc/hostname')", "open('x', 'w')", "os.open('/', os.O_RDONLY)", "os.listdir('/')", "os.mkdir('/tmp/x')",
        "os.remove('/etc/hostname')", "os.rename('/a', '/b')", "os.chmod('/', 0)", "os.chdir('/')", "os.system('true')",
        "os.fork()", "os.execv('/bin/true', ['true'])", "os.posix_spawn('/bin/true', ['true'], {})",
        "os.kill(os.getppid(), 0)", "subprocess.run(['true'])", "socket.socket()",
        "import wave", "import antigravity", "__import__('xml.dom')", "exec('1')", "eval('1')",
        "compile('1', 'x', 'eval')", "ctypes.CDLL(None)", "os.putenv('A', 'b')",
    ],
)  # fmt: skip
def test_what_python_refuses(attempt):
    assert "a program cannot" in walled(attempt).splitlines()[-1]


@pytest.mark.parametrize("brick", ["restrict_files", "limit_files"])
def test_what_the_system_refuses_by_itself(brick, tmp_path):
    """Without the audit hook: Landlock, and the limit of open files."""
    (tmp_path / "there").write_text("secret")
    opened = f"print(open({str(tmp_path / 'there')!r}).read())"
    code = f"from problog4fairness.program.sandbox import wall; wall.{brick}(); {opened}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert "secret" not in run.stdout
    assert run.stderr.splitlines()[-1].startswith(("PermissionError", "OSError: [Errno 24]"))


def test_all_parts_are_there():
    """One part must not keep another from its work: what limits files is itself a file until it is imported."""
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.setrlimit)"
    assert walled(code).startswith("(0, 0)")


def test_the_working_directory_is_gone():
    assert "FileNotFoundError" in walled("os.getcwd()")


def test_an_error_of_the_worker_still_reaches_the_caller():
    """A traceback names files, which cannot be opened any more; the reason must come through nevertheless."""
    worker = sandbox.Worker()
    try:
        with pytest.raises(RuntimeError, match="the worker process failed: KeyError: 'memory'"):
            worker._ask({"task": "read", "text": "a."}, sandbox.Limits())
    finally:
        worker.stop()


def test_harmless_events_touch_nothing_outside():
    """The list is short enough to be read; whoever adds to it changes this test as well."""
    assert {event.partition(".")[0] for event in wall.HARMLESS_EVENTS} == {
        "builtins", "cpython", "gc", "object", "resource", "sys",
    }  # fmt: skip
    assert len(wall.HARMLESS_EVENTS) == 12
