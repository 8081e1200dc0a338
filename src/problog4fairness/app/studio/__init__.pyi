from .project import REVIEWS, Project
from .server import serve

__all__ = ["REVIEWS", "Project", "serve"]
