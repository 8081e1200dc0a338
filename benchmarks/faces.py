"""What the belief costs when the network sees pictures, and how quickly pictures come.

Everything on one thread, in rounds that alternate, so that noise hits both sides alike:

- pictures a second of training through the three-attribute chain, and with plain binary cross-entropy;
- the belief's share of a training step: its likelihood and the gradient of it, beyond plain cross-entropy's, which
  the step would need in any case; and the whole of its loss;
- pictures a second that are drawn, that a data loader gives, and that are decoded from photographs of CelebA's size.

    python benchmarks/faces.py [--quick] [--json PATH]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from measure.rounds import Contestant, ratio, run_rounds
from PIL import Image
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits
from torch.utils.data import DataLoader

sys.path.insert(0, str(Path(__file__).parents[1]))

from studies.data import FaceData, drawn_faces
from studies.data.faces.photographs import decode, imagenet
from studies.face_runs import METHODS, belief
from studies.face_runs import rows as rows_of
from studies.faces import SMALL
from studies.vision import ResidualNetwork

BATCH = SMALL.batch_size or 64
GOAL = 0.01
PHOTOGRAPHS = "photographs of 178 × 218 to 224 × 224"


def training_step(pictures: Tensor, rows: Tensor, loss: Callable[[Tensor, Tensor], Tensor]) -> Callable[[int], None]:
    """A step of the small network, on another batch each time."""
    torch.manual_seed(0)
    network = ResidualNetwork(channels=pictures.shape[1])
    optimiser = torch.optim.AdamW(network.parameters(), lr=SMALL.learning_rate)
    batches = [batch for batch in rows.split(BATCH) if len(batch) == BATCH]

    def step(number: int) -> None:
        chosen = batches[number % len(batches)]
        optimiser.zero_grad()
        loss(network(pictures[chosen]), chosen).backward()
        optimiser.step()

    return step


def loss_step(rows: Tensor, loss: Callable[[Tensor, Tensor], Tensor]) -> Callable[[int], None]:
    """The loss alone, from logits to their gradient."""
    batches = [batch for batch in rows.split(BATCH) if len(batch) == BATCH]
    logits = torch.randn(BATCH, 1, generator=torch.Generator().manual_seed(0), requires_grad=True)

    def step(number: int) -> None:
        torch.autograd.grad(loss(logits, batches[number % len(batches)]), logits)

    return step


def training(faces: FaceData, rounds: int) -> dict[str, float]:
    """Seconds of a step, with and without the belief, and of either loss alone."""
    pictures = torch.from_numpy(faces.pictures(faces.rows(None)))
    rows, label = torch.from_numpy(faces.rows("train")), torch.from_numpy(faces.recorded).float()
    chained = belief(METHODS[-1], faces).observe(rows_of(METHODS[-1], faces))

    def through_chain(logits: Tensor, chosen: Tensor) -> Tensor:
        return -chained(logits.unsqueeze(1), chosen).mean()

    def plain(logits: Tensor, chosen: Tensor) -> Tensor:
        return binary_cross_entropy_with_logits(logits.squeeze(1), label[chosen])

    chain_step = Contestant("chain", training_step(pictures, rows, through_chain), 5, rounds, 1)
    plain_step = Contestant("plain", training_step(pictures, rows, plain), 5, rounds, 1)
    chain_loss = Contestant("chain's loss", loss_step(rows, through_chain), 50, rounds, 5)
    plain_loss = Contestant("plain loss", loss_step(rows, plain), 50, rounds, 5)
    run_rounds([chain_step, plain_step, chain_loss, plain_loss], rounds)
    return {
        "chain": BATCH / chain_step.step_seconds,
        "plain": BATCH / plain_step.step_seconds,
        "chain over plain": ratio(plain_step, chain_step).median,
        "share": (chain_loss.step_seconds - plain_loss.step_seconds) / chain_step.step_seconds,
        "whole loss": chain_loss.step_seconds / chain_step.step_seconds,
    }


def loading(faces: FaceData, drawn: float) -> dict[str, float]:
    """Pictures a second: drawn anew, all at once from memory, and by a data loader in this process."""
    start = time.perf_counter()
    faces.pictures(faces.rows(None))
    memory = len(faces) / (time.perf_counter() - start)
    loader = DataLoader(faces.dataset("train"), batch_size=BATCH, shuffle=True)
    start = time.perf_counter()
    seen = sum(len(rows) for _, rows in loader)
    loaded = seen / (time.perf_counter() - start)
    return {"drawn": drawn, "from memory": memory, "data loader": loaded, PHOTOGRAPHS: decoding(faces)}


def decoding(faces: FaceData, count: int = 200) -> float:
    """Pictures a second from JPEG files to a ResNet's input."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "face.jpg"
        Image.fromarray(faces.images[0].transpose(1, 2, 0)).resize((178, 218)).save(file, quality=90)
        start = time.perf_counter()
        for _ in range(count):
            imagenet(decode(file, 224))
        return count / (time.perf_counter() - start)


def main() -> None:
    """Measure, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and pictures")
    parser.add_argument("--json", type=Path, default=Path("build/bench/faces.json"), help="where to write the numbers")
    options = parser.parse_args()
    torch.set_num_threads(1)
    count = 1_000 if options.quick else 4_000
    start = time.perf_counter()
    faces = drawn_faces(count)
    drawn = count / (time.perf_counter() - start)
    results = {"loading": loading(faces, drawn), "training": training(faces, 10 if options.quick else 60)}
    found = results["training"]
    size = " × ".join(map(str, faces.shape[1:]))
    table = Table("", "measured", "goal", title=f"Faces of {size}, small network, batch {BATCH}, one thread",
                  title_justify="left")  # fmt: skip
    for name in results["loading"]:
        table.add_row(f"pictures/s, {name}", f"{results['loading'][name]:,.0f}", "")
    table.add_row("pictures/s, training with plain cross-entropy", f"{found['plain']:,.0f}", "")
    table.add_row("pictures/s, training through three attributes", f"{found['chain']:,.0f}", "")
    table.add_row("step through three attributes, times plain", f"{found['chain over plain']:.3f}", "")
    met = "met" if found["share"] < GOAL else "missed"
    table.add_row("belief's share of a step", f"{found['share']:.2%}", f"below {GOAL:.0%}: {met}")
    table.add_row("its whole loss, of a step", f"{found['whole loss']:.2%}", "")
    Console().print(table)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
