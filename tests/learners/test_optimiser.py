from __future__ import annotations

import torch

from problog4fairness.learners.networks.stack import StackedAdamW


def alone(start: torch.Tensor, gradients: list[torch.Tensor], rate: float, decay: float) -> torch.Tensor:
    parameter = torch.nn.Parameter(start.clone())
    reference = torch.optim.AdamW([parameter], lr=rate, weight_decay=decay)
    for gradient in gradients:
        parameter.grad = gradient.clone()
        reference.step()
    return parameter.detach()


def test_each_network_moves_as_with_torchs_adamw_at_its_own_step():
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(3, 40, generator=generator)
    start = values.clone()
    taken: list[list[torch.Tensor]] = [[], [], []]
    stacked = StackedAdamW(values, 0.01, 0.1)
    for step in range(60):
        count = (3, 3, 1, 2)[step % 4]
        gradient = torch.randn(count, 40, generator=generator) * 10.0 ** (step % 7 - 5)
        before = [part[count:].clone() for part in stacked.state()]
        stacked.ahead(count, 1)(gradient)
        for part, old in zip(stacked.state(), before, strict=True):
            assert torch.equal(part[count:], old), "a network without a batch moved"
        for model in range(count):
            taken[model].append(gradient[model])
    assert [len(gradients) for gradients in taken] == stacked.steps.tolist() == [60, 45, 30]
    for model in range(3):
        expected = alone(start[model], taken[model], 0.01, 0.1)
        torch.testing.assert_close(values[model], expected, rtol=1e-5, atol=1e-6)


def test_long_runs_agree_beyond_the_table_of_corrections():
    generator = torch.Generator().manual_seed(1)
    parameter = torch.nn.Parameter(torch.randn(1, 5, generator=generator))
    reference = torch.optim.AdamW([parameter], lr=1e-3)
    stacked = StackedAdamW(parameter.detach().clone(), 1e-3, 0.01)
    step = stacked.ahead(1, 4)
    for number in range(30):
        if number == 4:  # as after a long run
            reference.state[parameter]["step"].fill_(19_990)
            stacked.steps.fill_(19_990)
            step = stacked.ahead(1, 26)
        parameter.grad = torch.randn(1, 5, generator=generator)
        step(parameter.grad)
        reference.step()
    torch.testing.assert_close(stacked.values, parameter.detach(), rtol=1e-5, atol=1e-7)


def test_networks_that_are_taken_out_leave_the_others_as_they_were():
    generator = torch.Generator().manual_seed(2)
    gradients = torch.randn(6, 3, 10, generator=generator)
    values = torch.randn(3, 10, generator=generator)
    whole, part = StackedAdamW(values.clone(), 0.1, 0.01), StackedAdamW(values.clone(), 0.1, 0.01)
    for step in range(6):
        whole.ahead(3, 1)(gradients[step])
        part.ahead(len(part.values), 1)(gradients[step] if step < 3 else gradients[step, [0, 2]])
        if step == 2:
            part.select(torch.tensor([0, 2]))
    for left, right in zip(part.state(), whole.state(), strict=True):
        assert torch.equal(left, right[[0, 2]])
