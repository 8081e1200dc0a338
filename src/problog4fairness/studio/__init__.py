"""The whole path in the browser: a page on this machine for people who do not write code (``p4f studio``)."""
