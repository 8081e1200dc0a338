"""Figures inside a page."""

from __future__ import annotations

import re

from matplotlib.figure import Figure

from problog4fairness.app.report.markup import Markup, inline, page_style, tag, text


def drawn(title: str = "a title") -> Figure:
    with page_style():
        figure = Figure(figsize=(3, 2))
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1], color="#0072B2", marker="o")
        axes.set_title(title)
    return figure


def test_colours_are_those_of_the_page_and_letters_stay_letters():
    svg = inline(drawn(), "one", "a line")
    assert "var(--blue)" in svg
    assert not re.search(r"#[0-9a-f]{6}", svg)
    assert ">a title</text>" in svg
    assert "var(--figure)" in svg


def test_ids_of_two_figures_differ_and_references_follow():
    first, second = (inline(drawn(), name, "a line") for name in ("one", "two"))
    ids = [re.findall(r' id="([^"]+)"', svg) for svg in (first, second)]
    assert not set(ids[0]) & set(ids[1])
    for svg, own in ((first, ids[0]), (second, ids[1])):
        targets = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', svg)
        assert targets
        assert {a or b for a, b in targets} <= set(own)


def test_nothing_but_the_drawing_is_kept():
    svg = inline(drawn(), "one", "a line")
    assert svg.startswith("<svg viewBox=")
    assert not re.search(r"<metadata|<style|xmlns|http|<!--|<\?xml", svg)


def test_strange_text_stays_text():
    svg = inline(drawn("<b>$x_1$</b> \x01 & \ud800 --> ]]>"), "one", 'said "no" <i>\x02')
    assert "&lt;b&gt;$x_1$&lt;/b&gt;" in svg
    assert 'aria-label="said &quot;no&quot; &lt;i&gt; "' in svg
    assert not re.search(r"[\x00-\x08\ud800]", svg)


def test_markup_escapes_everything_else():
    assert text('<a href="x">\'&\x07') == "&lt;a href=&quot;x&quot;&gt;&#x27;&amp; "
    assert tag("p", Markup("<b>1</b>"), "<2>", class_='x" y="') == '<p class="x&quot; y=&quot;"><b>1</b>&lt;2&gt;</p>'
