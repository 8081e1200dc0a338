"""Data to learn from, and to test on."""

from problog4fairness.datasets.celeba import CelebA, celeba
from problog4fairness.datasets.drawn_faces import FaceData, drawn_faces
from problog4fairness.datasets.enumeration import Limits
from problog4fairness.datasets.equations import SyntheticSettings
from problog4fairness.datasets.faces.protocol import Faces
from problog4fairness.datasets.loans import LoanData, loans
from problog4fairness.datasets.student import StudentData, student
from problog4fairness.datasets.synthetic import SyntheticData, synthetic

__all__ = [
    "CelebA",
    "FaceData",
    "Faces",
    "Limits",
    "LoanData",
    "StudentData",
    "SyntheticData",
    "SyntheticSettings",
    "celeba",
    "drawn_faces",
    "loans",
    "student",
    "synthetic",
]
