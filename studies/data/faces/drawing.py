"""Faces in numpy alone: smooth shapes by their signed distance, laid over each other, lit, blurred and noisy.

Lengths are in units of half a picture, x to the right and y downwards. u and v are the same directions on the face, so
that the left and the right eye are both at |u| = 0.25, whichever way the head is turned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from studies.data.faces.protocol import Codes, Floats

Look: TypeAlias = Mapping[str, Floats]

# Uniform ranges of what a person, a camera and the light bring along. The order is the order of the random numbers.
RANGES: dict[str, tuple[float, float]] = {
    "shift_x": (-0.12, 0.12),
    "shift_y": (-0.20, 0.0),
    "rotation": (-0.28, 0.28),
    "scale": (1.0, 1.3),
    "yaw": (-0.32, 0.32),
    "pitch": (-0.12, 0.12),
    "width": (0.54, 0.66),
    "jaw": (0.0, 0.30),
    "tone": (0.0, 1.0),
    "warmth": (0.8, 1.2),
    "hair_tone": (0.0, 1.0),
    "hair_red": (0.75, 1.25),
    "hair_length": (-0.2, 1.0),
    "hairline": (-0.62, -0.44),
    "backdrop": (0.1, 0.95),
    "backdrop_blue": (0.8, 1.2),
    "backdrop_slope": (-0.2, 0.2),
    "shirt": (0.1, 0.9),
    "light_angle": (0.0, 2 * np.pi),
    "light": (0.05, 0.32),
    "exposure": (0.82, 1.12),
    "contrast": (0.75, 1.1),
    "brow": (0.018, 0.04),
    "eye": (0.042, 0.062),
    "iris": (0.05, 0.35),
    "nose": (0.10, 0.30),
    "beard": (-2.0, 0.75),
    "lip": (0.035, 0.062),
    "lip_red": (0.62, 0.92),
    "lip_line": (0.4, 1.0),
    "mouth_height": (0.40, 0.47),
    "mouth_width": (0.19, 0.24),
    "smile": (0.0, 1.0),
    "opening": (0.0, 1.0),
    "teeth": (0.0, 1.0),
    "cheek": (0.0, 1.0),
    "blur": (0.0, 1.0),
    "noise": (0.02, 0.065),
}


def look(uniform: Floats, attributes: Mapping[str, Codes]) -> dict[str, Floats]:
    """The looks of faces with these attributes, from uniform random numbers ``[faces, len(RANGES)]``."""
    looks = {
        name: (low + (high - low) * uniform[:, k]).astype(np.float32)
        for k, (name, (low, high)) in enumerate(RANGES.items())
    }
    smiling, cheeks, blurry, opened = (
        attributes[name] == 1 for name in ("smiling", "high_cheekbones", "blurry", "mouth_slightly_open")
    )
    # Squares make small openings more frequent than wide ones, which is where a classifier has to look closely.
    looks["bend"] = np.where(smiling, 0.085 + 0.075 * looks["smile"], -0.03 + 0.055 * looks["smile"])
    looks["mouth_width"] = looks["mouth_width"] + np.where(smiling, 0.055, 0.0)
    looks["gap"] = np.where(opened, 0.018 + 0.085 * looks["opening"] ** 2, 0.014 * looks["opening"] ** 2)
    looks["teeth"] = np.where(opened & (looks["teeth"] < np.where(smiling, 0.75, 0.35)), 1.0, 0.0)
    looks["cheek"] = np.where(cheeks, 0.75 + 0.45 * looks["cheek"], 0.25 * looks["cheek"])
    looks["blur"] = np.where(blurry, 1.2 + 0.7 * looks["blur"], 0.15 + 0.35 * looks["blur"])
    return {name: np.asarray(value, dtype=np.float32) for name, value in looks.items()}


def draw(looks: Look, size: int, noise: Floats, channels: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Pictures ``[faces, channels, size, size]``; ``noise`` is ``[faces, size, size]`` of standard normal numbers."""
    p = {name: value[:, None] for name, value in looks.items()}
    u, v = _on_face(p, size)
    pixel = 2.0 / size / p["scale"]
    layers = _layers(p, u, v, pixel)

    # From the front to the back: what a layer shows is what the layers before it have left over.
    left = np.ones_like(u)
    weights = np.empty((len(u), len(layers), u.shape[1]), dtype=np.float32)
    for k in reversed(range(len(layers))):
        np.multiply(left, layers[k][0], out=weights[:, k])
        left -= weights[:, k]
    colours = np.stack([colour for _, colour in layers], axis=2)
    if channels == 1:
        colours = np.einsum("ncl,c->nl", colours, np.array([0.299, 0.587, 0.114], dtype=np.float32))[:, None]
    picture = colours @ weights
    picture *= (_light(p, u, v) * _cheeks(p, u, v))[:, None]

    picture = _blurred(picture.reshape(len(u), channels, size, size), looks["blur"] * (size / 32))
    contrast = (looks["contrast"] * looks["exposure"])[:, None, None, None]
    picture = (picture - 0.5) * contrast + (0.5 * looks["exposure"])[:, None, None, None]
    picture += (noise * looks["noise"][:, None, None])[:, None]
    return np.asarray(np.clip(picture * 255 + 0.5, 0, 255), dtype=np.uint8)


def _on_face(p: Look, size: int) -> tuple[Floats, Floats]:
    """Where each pixel is on the face: ``[faces, pixels]``."""
    axis = ((np.arange(size, dtype=np.float32) + 0.5) * (2 / size) - 1).astype(np.float32)
    x, y = np.tile(axis, size)[None], np.repeat(axis, size)[None]
    x, y = x - p["shift_x"], y - p["shift_y"]
    cos, sin = np.cos(p["rotation"]) / p["scale"], np.sin(p["rotation"]) / p["scale"]
    u, v = np.asarray(x * cos + y * sin, dtype=np.float32), np.asarray(y * cos - x * sin, dtype=np.float32)
    u *= 1 + p["pitch"] * v
    return u, v


def _layers(p: Look, u: Floats, v: Floats, pixel: Floats) -> list[tuple[Floats, Floats]]:
    """Coverage ``[faces, pixels]`` and colour ``[faces, 3]``, from the back to the front."""

    def inside(distance: Floats) -> Floats:
        return np.asarray(np.clip(0.5 - distance / pixel, 0, 1), dtype=np.float32)

    def ellipse(across: Floats, down: Floats, a: Floats | float, b: Floats | float) -> Floats:
        width = np.asarray(np.minimum(a, b), dtype=np.float32)
        return inside((np.sqrt((across / a) ** 2 + (down / b) ** 2) - 1) * width)

    skin = _mix(p["tone"], (0.30, 0.19, 0.13), (0.93, 0.76, 0.65)) * _tint(p["warmth"])
    hair = _mix(p["hair_tone"] ** 2, (0.06, 0.05, 0.05), (0.75, 0.60, 0.38)) * _tint(p["hair_red"])
    backdrop = _grey(p["backdrop"]) * _tint(2 - p["backdrop_blue"])

    face = ellipse(u * (1 + p["jaw"] * np.maximum(v, 0)), v - 0.05, p["width"], 0.80)
    # The features turn with the head: they move to one side, and the far side is seen at a slant.
    across = (u - 0.28 * p["yaw"]) * (1 + 0.5 * p["yaw"] * u)
    side = np.abs(across)
    squint = np.where(p["bend"] > 0.05, np.float32(0.7), np.float32(1)) * p["eye"]

    reach = np.clip(1 - (across / p["mouth_width"]) ** 2, 0, 1)
    below = v - p["mouth_height"] - p["bend"] * (reach - 0.5)
    gap, lips = p["gap"] * np.sqrt(reach), p["lip"] * np.sqrt(reach)
    in_mouth = reach > 0
    opening = inside(np.abs(below) - gap) * in_mouth
    # Closed lips still meet in a line, darker in some faces than in others.
    opening *= np.minimum(p["lip_line"] + 15 * p["gap"], 1)

    return [
        (np.ones_like(u), backdrop),
        (inside(p["backdrop_slope"] * 2 + v - 0.2), backdrop * (1 - np.abs(p["backdrop_slope"]))),
        (ellipse(u, v + 0.14, p["width"] + 0.14, 0.82) * inside(v - p["hair_length"]), hair),
        (inside(np.abs(u) - np.float32(0.3)) * inside(0.4 - v), skin * 0.78),
        (ellipse(u, v - 1.42, 1.0, 0.50), _grey(p["shirt"]) * _tint(p["backdrop_blue"])),
        (face, skin),
        (face * inside(v - p["hairline"] + 0.35 * u**2), hair),
        (face * np.clip(p["beard"], 0, 1) * _soft(side, below, 0.34, 0.26) * inside(0.2 - v), hair),
        (ellipse(side - 0.26, v + 0.27 + 0.05 * (side - 0.26), 0.15, p["brow"]), hair * 0.8),
        (ellipse(side - 0.25, v + 0.11, 0.115, squint), _grey(0.55 + 0.4 * p["tone"])),
        (ellipse(side - 0.25, v + 0.11, 0.055, squint), _grey(p["iris"])),
        (p["nose"] * _soft(side - 0.07, v - 0.16, 0.05, 0.10), skin * 0.2),
        (ellipse(side - 0.06, v - 0.22, 0.035, 0.022), skin * 0.35),
        (inside(np.abs(below) - gap - lips) * in_mouth, skin * _lip_tint(p["lip_red"])),
        (opening, skin * 0.22),
        (inside(np.abs(below + 0.35 * gap) - 0.5 * gap) * in_mouth * p["teeth"], _grey(0.55 + 0.35 * p["tone"])),
    ]


def _light(p: Look, u: Floats, v: Floats) -> Floats:
    """Brightness by direction: a head is rounder than a wall, but the difference is not visible at this size."""
    return 1 + p["light"] * np.clip(np.cos(p["light_angle"]) * u + np.sin(p["light_angle"]) * v, -1.2, 1.2)


def _cheeks(p: Look, u: Floats, v: Floats) -> Floats:
    """High cheekbones catch the light, and leave a hollow below them."""
    side = np.abs((u - 0.28 * p["yaw"]) * (1 + 0.5 * p["yaw"] * u))
    slant = v + 0.3 * (side - 0.36)
    return 1 + p["cheek"] * (
        0.26 * _soft(side - 0.36, slant - 0.06, 0.13, 0.075) - 0.42 * _soft(side - 0.40, slant - 0.29, 0.11, 0.10)
    )


def _blurred(picture: Floats, sigma: Floats) -> Floats:
    """Gaussian blur of each picture with its own width in pixels, which is a product with a matrix on either side."""
    size = picture.shape[-1]
    steps = np.arange(size, dtype=np.float32)
    kernel = np.exp(-0.5 * ((steps[:, None] - steps) / np.maximum(sigma, 0.05)[:, None, None]) ** 2)
    kernel /= kernel.sum(axis=2, keepdims=True)
    return np.asarray(kernel[:, None] @ picture @ kernel.transpose(0, 2, 1)[:, None], dtype=np.float32)


def _soft(across: Floats, down: Floats, a: float, b: float) -> Floats:
    """A patch without an edge: 1 in its middle."""
    return np.exp(-0.5 * ((across / a) ** 2 + (down / b) ** 2))


def _mix(share: Floats, dark: tuple[float, float, float], bright: tuple[float, float, float]) -> Floats:
    low, high = np.array(dark, dtype=np.float32), np.array(bright, dtype=np.float32)
    return low + (high - low) * share


def _grey(value: Floats) -> Floats:
    return np.repeat(value, 3, axis=1)


def _tint(warmth: Floats) -> Floats:
    """More red and less blue above 1, the other way round below."""
    return np.concatenate([warmth**0.5, np.ones_like(warmth), warmth**-0.5], axis=1)


def _lip_tint(red: Floats) -> Floats:
    return np.concatenate([0.55 + 0.45 * red, red * 0.72, red * 0.76], axis=1)
