"""The paper's face study (RQ6): label bias on pictures, by one attribute and by three."""

from problog4fairness.experiments.faces.plan import METHODS, FaceRun, FaceStudy, face_study
from problog4fairness.experiments.faces.report import write_face_report
from problog4fairness.experiments.faces.run import run_faces

__all__ = ["METHODS", "FaceRun", "FaceStudy", "face_study", "run_faces", "write_face_report"]
