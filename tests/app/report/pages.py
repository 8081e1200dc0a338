"""Models to report on, and a reader of pages that notices what is wrong with them."""

from __future__ import annotations

import re
import warnings
from html.parser import HTMLParser
from typing import Any

import pandas as pd

import problog4fairness as p4f
from problog4fairness.evaluation import Comparison
from problog4fairness.learners import Network


def quick(**options: Any) -> dict[str, Any]:
    """Options of a classifier that is fitted as quickly as can be; ``options`` are the network's."""
    return {
        "learner": Network(**{"hidden": (8,), "learning_rate": 1e-2, "max_epochs": 8, **options}),
        "random_state": 0,
    }


QUICK = quick()
HOSTILE = '<script>alert("x")</script>'
IMAGE = "\"'><img src=https://evil.example/x.png onerror=alert(1)>"

VOID = {"meta", "img", "br", "hr", "link", "input"}


def trained(
    data: p4f.datasets.LoanData, belief: p4f.Belief | None = None
) -> tuple[p4f.DebiasedClassifier, pd.DataFrame]:
    """A model on the loans, and their frame with the sensitive column."""
    columns = [*data.features, "poor_area"]
    if belief is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", p4f.audit.AuditWarning)
            belief = p4f.LabelBias("poor_area").estimate(data.audit, recorded="granted", fair="repaid")
    model = p4f.DebiasedClassifier(belief, **QUICK).fit(data.loans[columns], data.loans["granted"])
    return model, data.loans


def compared(model: p4f.DebiasedClassifier, data: p4f.datasets.LoanData) -> Comparison:
    """A comparison of two methods, as quick as can be."""
    small = p4f.DebiasedClassifier(model.belief_, Network(hidden=(4,), max_epochs=2))
    options = {"methods": ["recorded_only"], "seeds": 2, "folds": 2}
    return p4f.compare(data.audit, small, recorded="granted", fair="repaid", **options)


class Page(HTMLParser):
    """A page as a parser sees it; ``problems`` lists what is wrong."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        if self._open:
            self.problems.append(f"left open: {self._open}")
        self._check(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._see(tag, dict(attrs))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._see(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"</{tag}> at line {self.getpos()[0]} closes nothing")

    def handle_data(self, data: str) -> None:
        if self._open[-1:] != ["style"]:
            self.words += data

    def _see(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.tags.append(tag)
        self.attributes.append((tag, attributes))
        if attributes.get("id"):
            self.ids.append(str(attributes["id"]))

    def _check(self, html: str) -> None:
        repeated = {name for name in self.ids if self.ids.count(name) > 1}
        if repeated:
            self.problems.append(f"ids occur twice: {sorted(repeated)[:5]}")
        for tag, attributes in self.attributes:
            if tag == "svg" and not (attributes.get("role") == "img" and attributes.get("aria-label")):
                self.problems.append("a drawing has no alternative text")
            if tag == "img" and attributes.get("alt") is None:
                self.problems.append("an image has no alternative text")
            if tag == "th" and attributes.get("scope") not in ("row", "col"):
                self.problems.append("a header of a table has no scope")
            if tag in ("script", "iframe", "object", "embed", "link", "base", "form"):
                self.problems.append(f"there is a <{tag}>")
            for name, value in attributes.items():
                if name.startswith("on"):
                    self.problems.append(f"<{tag}> has {name}")
                if name in ("src", "href", "xlink:href", "action", "srcset") and not str(value).startswith("#"):
                    self.problems.append(f"<{tag}> refers to {value}")
                if name == "href" and str(value).startswith("#") and str(value)[1:] not in self.ids:
                    self.problems.append(f"<{tag}> refers to {value}, which is not there")
        for target in re.findall(r"url\(([^)]*)\)", html):
            if target.strip("'\"")[1:] not in self.ids:
                self.problems.append(f"url({target}) is not on the page")
        if self.tags.count("h1") != 1 or not {"header", "main", "nav", "footer"} <= set(self.tags):
            self.problems.append("landmarks or the heading are missing")
        policy = [a.get("content") for _, a in self.attributes if a.get("http-equiv") == "Content-Security-Policy"]
        if len(policy) != 1 or not str(policy[0]).startswith("default-src 'none'; style-src 'unsafe-inline'"):
            self.problems.append(f"the policy is {policy}")
        if ("html", {"lang": "en"}) not in self.attributes:
            self.problems.append("the page has no language")
