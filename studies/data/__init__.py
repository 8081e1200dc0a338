"""What only the studies need: pupils with biased labels, and faces, drawn or photographed."""

from studies.data.celeba import CelebA, celeba
from studies.data.drawn_faces import FaceData, drawn_faces
from studies.data.faces.protocol import Faces
from studies.data.student import StudentData, student

__all__ = ["CelebA", "FaceData", "Faces", "StudentData", "celeba", "drawn_faces", "student"]
