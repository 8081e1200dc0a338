"""What can go wrong with data: beliefs that write ProbLog, observe rows, and are estimated from audits."""
