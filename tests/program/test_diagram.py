"""Diagrams: what is marked how, and that a drawing is readable whatever the program."""

from __future__ import annotations

import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from problog4fairness import Program
from problog4fairness.errors import LimitError, P4FError
from problog4fairness.program import Limits
from problog4fairness.program.diagram.diagram import CLASSIFIER_FILL, SUFFIXES, Diagram, Node
from problog4fairness.program.diagram.layout import Box, Layout, Point, layered
from problog4fairness.program.diagram.plotting import arranged
from problog4fairness.program.sandbox.process import run

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ["label", "loan", "loan_noise", "measurement", "three_attributes"]
CYCLIC = """
0.3 :: edge(1,2).  0.4 :: edge(2,1).  0.5 :: edge(2,3).  0.2 :: edge(3,1).
path(X,Y) :- edge(X,Y).
path(X,Y) :- edge(X,Z), path(Z,Y).
query(path(1,3)).
"""


def read(text: str, classifier: str = "h") -> Diagram:
    return Diagram.from_json(run("diagram", text), classifier)


def example(name: str) -> Diagram:
    return read((EXAMPLES / f"{name}.pl").read_text(encoding="utf-8"))


def entry(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "parents": [], "weights": [], "query": False, "evidence": False} | more


def test_the_label_example():
    diagram = example("label")
    assert set(diagram.edges) == {
        ("a(x)", "label_neg_bias(x)"),
        ("a(x)", "label_pos_bias(x)"),
        ("label_neg_bias(x)", "y_(x)"),
        ("label_pos_bias(x)", "y_(x)"),
        ("y_h(x)", "y_(x)"),
    }
    assert {node.name for node in diagram.nodes if node.observed} == {"a(x)", "y_(x)"}
    assert [node.name for node in diagram.nodes if node.classifier] == ["y_h(x)"]
    assert {node.name: node.weights for node in diagram.nodes} == {
        "y_h(x)": ("nn(h,x)",),
        "a(x)": ("nn(a,x)",),
        "label_neg_bias(x)": ("p1", "p2"),
        "label_pos_bias(x)": ("p3", "p4"),
        "y_(x)": (),
    }


def test_the_loan_example_with_noise():
    diagram = example("loan_noise")
    assert {node.name for node in diagram.nodes if node.observed} == {"poor_neighborhood(x)", "observed_gets_loan(x)"}
    assert [node.name for node in diagram.nodes if node.classifier] == ["can_pay_loan(x)"]


def test_another_network_can_be_the_classifier():
    text = "nn('My net',X) :: fair(X). nn(h,X) :: area(X). granted(X) :- fair(X), \\+area(X). query(granted(x))."
    marks = {node.name: (node.observed, node.classifier) for node in read(text, classifier="My net").nodes}
    assert marks == {"fair(x)": (False, True), "area(x)": (True, False), "granted(x)": (True, False)}


def test_a_network_whose_name_begins_alike_is_not_the_classifier():
    diagram = Diagram.from_json({"nodes": [entry("hc(x)", weights=["nn(hc,x)"])]})
    assert diagram.nodes == (Node("hc(x)", weights=("nn(hc,x)",), observed=True),)


def test_evidence_is_observed():
    diagram = read("0.5 :: rain. 0.9 :: wet :- rain. evidence(wet). query(rain).")
    assert all(node.observed for node in diagram.nodes)


def test_an_atom_of_several_clauses_is_one_node():
    diagram = read("0.1 :: s(a). 0.2 :: s(a). 0.3 :: s(a) :- s(b). 0.4 :: s(b) :- s(a). query(s(a)).")
    assert {node.name: node.weights for node in diagram.nodes} == {"s(a)": ("0.1", "0.2", "0.3"), "s(b)": ("0.4",)}
    assert set(diagram.edges) == {("s(a)", "s(b)"), ("s(b)", "s(a)")}


def test_mermaid():
    assert example("label").mermaid().splitlines() == [
        "flowchart LR",
        '    n0["y_h(x)<br/>nn(h,x)"]',
        '    n1["a(x)<br/>nn(a,x)"]',
        '    n2["label_neg_bias(x)<br/>p1, p2"]',
        '    n3["label_pos_bias(x)<br/>p3, p4"]',
        '    n4["y_(x)"]',
        "    n1 --> n2",
        "    n1 --> n3",
        "    n2 --> n4",
        "    n3 --> n4",
        "    n0 --> n4",
        "    classDef observed fill:#FFFFFF,stroke:#1A1A1A,color:#1A1A1A",
        "    classDef unobserved fill:#FFFFFF,stroke:#1A1A1A,color:#1A1A1A,stroke-dasharray:5 3",
        f"    classDef classifier fill:{CLASSIFIER_FILL},stroke-width:2px",
        "    class n1,n4 observed",
        "    class n0,n2,n3 unobserved",
        "    class n0 classifier",
    ]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ('says("hi")', "says(#quot;hi#quot;)"),
        ("in([a,b])", "in(#91;a,b#93;)"),
        ("back\\slash", "back#92;slash"),
        ("<b>&#quot;`", "#60;b#62;#38;#35;quot#59;#96;"),
        ("%%{init: 1}%%", "#37;#37;#123;init#58; 1#125;#37;#37;"),
        ("_hidden_(x_)", "#95;hidden_(x_)"),
        ("two\nlines", "two#10;lines"),
        ("crédit(x)", "crédit(x)"),
    ],
)
def test_mermaid_escapes_what_it_would_read_as_its_own(name: str, label: str):
    assert f'    n0["{label}"]\n' in Diagram((Node(name),)).mermaid()


def overlap(one: Box, other: Box) -> bool:
    across = abs(one.x - other.x) < (one.width + other.width) / 2
    return across and abs(one.y - other.y) < (one.height + other.height) / 2


def drawn_points(route: tuple[Point, ...]) -> list[Point]:
    """Points along a route: straight lines and level curves take turns."""
    points = []
    for index, ((x, y), (to_x, to_y)) in enumerate(pairwise(route)):
        for t in (step / 16 for step in range(17)):
            along = 1.5 * t * (1 - t) + t**3 if index % 2 else t
            rise = 3 * t**2 - 2 * t**3 if index % 2 else t
            points.append((x + along * (to_x - x), y + rise * (to_y - y)))
    return points


def assert_readable(layout: Layout, edges: list[tuple[int, int]]) -> None:
    assert not any(overlap(one, other) for one, other in combinations(layout.boxes, 2))
    for box in layout.boxes:
        assert box.width / 2 - 1e-6 <= box.x <= layout.width - box.width / 2 + 1e-6
        assert box.height / 2 - 1e-6 <= box.y <= layout.height - box.height / 2 + 1e-6
    for (tail, head), route in zip(edges, layout.routes, strict=True):
        for end, (x, y) in ((tail, route[0]), (head, route[-1])):
            box = layout.boxes[end]
            assert abs(x - box.x) == pytest.approx(box.width / 2)
            assert abs(y - box.y) < box.height / 2
        for x, y in drawn_points(route):
            for box in layout.boxes:
                inside = abs(x - box.x) < box.width / 2 - 1e-6 and abs(y - box.y) < box.height / 2 - 1e-6
                assert not inside, f"the arrow {tail} -> {head} runs over a box"


@pytest.mark.parametrize("name", NAMES)
def test_boxes_do_not_overlap_and_arrows_run_beside_them(name: str):
    diagram = example(name)
    index = {node.name: i for i, node in enumerate(diagram.nodes)}
    _, layout = arranged(diagram)
    assert_readable(layout, [(index[parent], index[child]) for parent, child in diagram.edges])
    for parent, child in diagram.edges:
        assert layout.boxes[index[parent]].x < layout.boxes[index[child]].x


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_graph_can_be_laid_out(data: st.DataObject):
    sizes = data.draw(st.lists(st.tuples(st.floats(10, 200), st.floats(10, 60)), min_size=1, max_size=12))
    pairs = [(tail, head) for tail in range(len(sizes)) for head in range(len(sizes)) if tail != head]
    edges = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=25)) if pairs else []
    assert_readable(layered(sizes, edges), edges)


def test_a_cycle_is_drawn():
    diagram = read(CYCLIC)
    assert ("path(2,3)", "path(1,3)") in diagram.edges
    assert ("path(1,3)", "path(2,3)") in diagram.edges
    index = {node.name: i for i, node in enumerate(diagram.nodes)}
    _, layout = arranged(diagram)
    assert_readable(layout, [(index[parent], index[child]) for parent, child in diagram.edges])


def test_a_long_chain_is_no_deep_recursion():
    edges = [(i, i + 1) for i in range(2999)]
    layout = layered([(60, 20)] * 3000, edges)
    assert {box.y for box in layout.boxes} == {10.0}


@pytest.mark.parametrize("name", NAMES)
def test_text_stays_within_its_box_and_the_figure(name: str):
    figure = example(name).draw()
    (ax,) = figure.axes
    figure.draw_without_rendering()
    boxes = [patch.get_window_extent() for patch in ax.patches if isinstance(patch, FancyBboxPatch)]
    for text in ax.texts:
        extent = text.get_window_extent()
        assert figure.bbox.x0 <= extent.x0
        assert extent.x1 <= figure.bbox.x1
        if text.get_horizontalalignment() == "center":
            around = [box for box in boxes if box.x0 < extent.x0 and extent.x1 < box.x1]
            assert any(box.y0 < extent.y0 and extent.y1 < box.y1 for box in around), text.get_text()


def test_figures_grow_with_the_graph():
    small, large = example("label").draw(), example("measurement").draw()
    assert large.get_figwidth() > small.get_figwidth()
    tall = Diagram(tuple(Node(f"q{i}", query=True) for i in range(40))).draw()
    assert tall.get_figheight() > 5 * small.get_figheight()


def test_outlines_and_fills_say_what_is_known():
    svg = example("label")._repr_svg_()
    # Three unobserved nodes, and the samples of "unobserved" and "classifier" in the legend.
    assert svg.count("stroke-dasharray") == 5
    # The classifier, and its sample.
    assert svg.count(f"fill: {CLASSIFIER_FILL.lower()}") == 2
    legend = [text.get_text() for text in example("loan").draw().axes[0].texts][-2:]
    assert legend == ["observed", "unobserved"]


def test_drawing_on_given_axes():
    figure = Figure(figsize=(3, 2))
    left, right = figure.subplots(1, 2)
    assert example("label").draw(right) is figure
    assert not left.texts
    assert {"y_h(x)", "p1, p2"} <= {text.get_text() for text in right.texts}
    assert max(text.get_fontsize() for text in right.texts) < 6


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_same_program_gives_the_same_bytes(suffix: str, tmp_path: Path):
    example("label").save(tmp_path / f"one{suffix}")
    with mpl.rc_context({"font.family": "serif", "figure.facecolor": "black", "text.color": "red", "savefig.dpi": 50}):
        example("label").save(tmp_path / f"two{suffix.upper()}")
    content = (tmp_path / f"one{suffix}").read_bytes()
    assert content == (tmp_path / f"two{suffix.upper()}").read_bytes()
    assert content.startswith({".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF", ".mmd": b"flowchart"}[suffix])
    assert len(list(tmp_path.iterdir())) == 2


def test_an_svg_says_in_words_what_it_shows():
    text = Diagram((Node("p(\x01<&>)"), Node("q", ("p(\x01<&>)",), query=True)))._repr_svg_()
    root = ET.fromstring(text)
    assert root.findtext("{http://www.w3.org/2000/svg}title") == "Causal diagram of q"
    assert root.findtext(".//{http://purl.org/dc/elements/1.1/}description") == "q depends on p(\\x01<&>)."


def test_a_png_has_200_dpi_unless_it_would_be_huge(tmp_path: Path):
    example("loan").save(tmp_path / "loan.png")
    height, width, _ = mpl.image.imread(tmp_path / "loan.png").shape
    assert (width, height) == pytest.approx(200 * example("loan").draw().get_size_inches(), abs=1)
    Diagram(tuple(Node(f"q({i})", query=True) for i in range(400))).save(tmp_path / "tall.png")
    assert max(mpl.image.imread(tmp_path / "tall.png").shape) <= 12_000


def test_an_unknown_suffix_is_refused(tmp_path: Path):
    with pytest.raises(P4FError) as caught:
        example("loan").save(tmp_path / "loan.jpeg")
    assert str(caught.value) == "cannot save a diagram as 'loan.jpeg'; use one of the suffixes .svg, .png, .pdf, .mmd"
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_nothing_behind(tmp_path: Path):
    (tmp_path / "taken.svg").mkdir()
    with pytest.raises(P4FError, match=r"taken\.svg is a folder; name a file in it"):
        example("loan").save(tmp_path / "taken.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["taken.svg"]


def test_matplotlib_comes_late_and_pyplot_never():
    code = (
        "import sys; from problog4fairness.program.diagram.diagram import Diagram, Node;"
        "assert 'matplotlib' not in sys.modules;"
        "Diagram((Node('q'),))._repr_svg_(); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def dense(fact: str, rule: str, count: int = 100) -> str:
    """``count`` facts, and as many rules, each of which needs all facts and all earlier rules."""
    facts, rules = ([form.format(i) for i in range(count)] for form in (fact, rule))
    lines = [f"0.5::{name}." for name in facts]
    lines += [f"{name} :- {','.join([*facts, *rules[:i]])}." for i, name in enumerate(rules)]
    return "\n".join([*lines, f"query({rules[-1]})."])


def test_a_large_graph_is_drawn_by_predicate(tmp_path):
    diagram = read(dense("f({})", "r({})"))
    assert len(diagram.nodes) == 200
    started = time.monotonic()
    summary = diagram.drawable()
    assert [(node.name, node.parents) for node in summary.nodes] == [
        ("f/1 (100 atoms)", ()),
        ("r/1 (100 atoms)", ("f/1 (100 atoms)",)),
    ]
    assert summary.nodes[0].weights == ("0.5",)
    assert summary.nodes[1].query
    diagram.save(tmp_path / "large.svg")
    assert "f/1 (100 atoms)" in (tmp_path / "large.svg").read_text()
    assert len(diagram.mermaid().splitlines()) > 200
    assert time.monotonic() - started < 20


def test_a_graph_with_too_many_predicates_is_an_error(tmp_path):
    diagram = read(dense("f{}", "r{}"))
    started = time.monotonic()
    with pytest.raises(
        LimitError, match=r"200 boxes and 14950 arrows is too large for a picture; save its text, .*\.mmd"
    ):
        diagram.save(tmp_path / "large.svg")
    assert time.monotonic() - started < 20
    assert not list(tmp_path.iterdir())
    diagram.save(tmp_path / "large.mmd")


def test_laying_out_has_limits():
    """It happens in the worker, within the time that the program has."""
    names = [f"a({i})" for i in range(40)]
    nodes = tuple(Node(name, parents=tuple(names[:i])) for i, name in enumerate(names))
    with pytest.raises(LimitError, match="40 boxes and 780 arrows is too large"):
        Diagram(nodes, Limits(seconds=0.05)).draw()


def test_long_names_are_cut(tmp_path):
    name = "a" * 9_990
    started = time.monotonic()
    diagram = Program(f"0.5::{name}. b :- {name}. query(b). query({name}).").diagram()
    for suffix in SUFFIXES:
        diagram.save(tmp_path / f"long{suffix}")
        assert (tmp_path / f"long{suffix}").stat().st_size < 100_000
    assert time.monotonic() - started < 20
    assert name in {node.name for node in diagram.nodes}


def test_numbers_of_a_picture_have_four_digits():
    diagram = Program(
        "0.38356164383561642 :: bias(X).\nnn(h,X) :: y(X).\nr(X) :- y(X), \\+bias(X).\n?- r(x)."
    ).diagram()
    assert {node.name: node.remark for node in diagram.nodes}["bias(x)"] == "0.3836"
    assert "0.38356" not in diagram.mermaid()
