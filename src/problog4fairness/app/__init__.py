"""What people touch: the report, the command line and the page in the browser. Each is thin and calls the library."""
