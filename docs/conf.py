"""How the documentation is built: ``make docs`` writes it to ``build/docs``, with warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

import problog4fairness as p4f

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
from reference import filenames

project = "problog4fairness"
author = "the problog4fairness authors"
version = release = p4f.__version__
language = "en"

extensions = [
    "mathml",
    "myst_parser",
    "offline",
    "pictures",
    "reference",
    "scrolling",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
# What is made at build time goes to one folder, which git and `make clean` know.
exclude_patterns = ["_extensions", "gallery", "contribute/examples", "results"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autosummary_filename_map = filenames()
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_attr_annotations = False
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
python_display_short_literal_types = True
python_use_unqualified_type_names = True

sphinx_gallery_conf = {
    "examples_dirs": ["gallery", "contribute/examples"],
    "gallery_dirs": ["_generated/gallery", "_generated/contribute"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "ExampleTitleSortKey",
    "abort_on_example_error": True,
    "default_thumb_file": str(Path(__file__).parent / "images" / "label.svg"),
    "capture_repr": ("_repr_html_", "__repr__"),
    "image_scrapers": ("matplotlib", "showing.scraper"),
    "ignore_repr_types": r"matplotlib|diagram\.Diagram",
    "min_reported_time": 60,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "write_computation_times": False,  # its tables are sorted by scripts of another host
}

# A docstring's attribute may have the name of another class's; both are shown in their own places.
suppress_warnings = ["ref.python"]

html_theme = "pydata_sphinx_theme"
html_title = "problog4fairness"
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}
copyright = "the problog4fairness authors, MIT licence"  # noqa: A001
