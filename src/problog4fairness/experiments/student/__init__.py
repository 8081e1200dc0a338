"""The study on real data, pupils with human-biased labels (RQ4, RQ5), and how small an audit may be."""

from problog4fairness.experiments.student.report import write_student_report
from problog4fairness.experiments.student.run import StudentOutcome, run_student
from problog4fairness.experiments.student.study import StudentStudy, student_study

__all__ = ["StudentOutcome", "StudentStudy", "run_student", "student_study", "write_student_report"]
