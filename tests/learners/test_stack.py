from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest
import torch

from problog4fairness.beliefs import FairInputs, Observation
from problog4fairness.learners.networks.stack import (
    MLP,
    Dropout,
    Epoch,
    FewInputs,
    Layout,
    ManyInputs,
    Rows,
    StackedAdamW,
    forward,
)
from tests.learners.observations import blend


def epoch_of(counts: list[int], weights: list[torch.Tensor | None], batch_size: int) -> tuple[Rows, Epoch]:
    own = [100 * model + torch.arange(count) for model, count in enumerate(counts)]
    rows = Rows(own, weights, batch_size)
    return rows, Epoch(rows, batch_size, [torch.Generator().manual_seed(model) for model in range(len(counts))])


def test_in_an_epoch_each_network_sees_each_of_its_rows_once_in_its_own_order():
    counts = [23, 17, 8, 1]
    weights = [None, torch.arange(1.0, 18.0), None, torch.tensor([7.0])]
    _, epoch = epoch_of(counts, weights, 4)
    seen: list[list[tuple[int, float]]] = [[] for _ in counts]
    at_work = []
    for count, batches in epoch.phases():
        for rows, weight, scale in batches:
            at_work.append(count)
            assert rows.shape == weight.shape == (count, 4)
            torch.testing.assert_close(scale, 1 / weight.sum(1))
            for model in range(count):
                pairs = zip(rows[model].tolist(), weight[model].tolist(), strict=True)
                seen[model] += [(row, own) for row, own in pairs if own > 0]
                assert all(row // 100 == model for row in rows[model].tolist()), "padding is a row of the same network"
    assert at_work == [4, 3, 2, 2, 2, 1]
    for model, (count, weight) in enumerate(zip(counts, weights, strict=True)):
        expected = {100 * model + row: 1.0 if weight is None else weight[row].item() for row in range(count)}
        assert len(seen[model]) == count
        assert dict(seen[model]) == expected
    orders = [[row % 100 for row, _ in seen[model]] for model in range(2)]
    assert orders[0] != sorted(orders[0])
    assert orders[0][:17] != orders[1]


def test_the_order_is_the_permutation_that_the_network_draws_alone():
    _, epoch = epoch_of([10, 6], [None, None], 4)
    order = torch.cat([rows[1] for count, batches in epoch.phases() for rows, _, _ in batches if count == 2])
    assert (order[:6] - 100).tolist() == torch.randperm(6, generator=torch.Generator().manual_seed(1)).tolist()


def test_networks_that_are_taken_out_leave_the_rows_of_the_others():
    rows, _ = epoch_of([9, 5, 2], [None, None, torch.tensor([2.0, 3.0])], 2)
    rows.select(torch.tensor([1, 2]))
    epoch = Epoch(rows, 2, [torch.Generator(), torch.Generator()])
    seen = [(r, w) for _, batches in epoch.phases() for r, w, _ in batches]
    assert len(seen) == 3
    assert sorted(row for r, w in seen for row, own in zip(r[0].tolist(), w[0].tolist(), strict=True) if own) == [
        100, 101, 102, 103, 104,
    ]  # fmt: skip
    assert sorted(seen[0][1][1].tolist()) == [2.0, 3.0]


def test_chunks_give_back_all_rows_with_their_weights():
    rows = Rows([torch.arange(5), torch.arange(7, 9)], [None, torch.tensor([0.5, 2.0])])
    parts = list(rows.chunks(2))
    assert [tuple(part.shape) for part, _ in parts] == [(2, 2), (2, 2), (2, 1)]
    whole, weights = (torch.cat(column, dim=1) for column in zip(*parts, strict=True))
    assert whole[0].tolist() == [0, 1, 2, 3, 4]
    assert whole[1].tolist() == [7, 8, 7, 7, 7], "padding is a row of the same network"
    assert weights.tolist() == [[1, 1, 1, 1, 1], [0.5, 2, 0, 0, 0]]


def test_looking_up_logits_is_the_same_as_looking_up_inputs():
    layout = Layout((3, 8, 2))
    first, second = blend(40, 6, seed=0), blend(30, 9, seed=1)
    likelihood = first[1].stacked([second[1]], [0, 6])
    assert likelihood is not None
    values = torch.stack([layout.initial(torch.Generator().manual_seed(seed)) for seed in range(3)])
    rows = torch.stack([torch.randint(0, 40, (5,)), torch.randint(40, 70, (5,)), torch.randint(0, 40, (5,))])
    many = ManyInputs(likelihood, torch.cat([first[0], second[0]]))
    few = FewInputs(likelihood, [first[0], second[0], first[0]], [0, 6, 0])
    parts = layout.parts(values)
    expected = many.logits(parts, rows)
    assert expected.shape == (3, 5, 4, 2)
    torch.testing.assert_close(few.logits(parts, rows), expected)
    torch.testing.assert_close(few.logits(layout.parts(values[:2]), rows[:2]), expected[:2])
    model, row, variant = 1, 3, 2
    one = (first[0], second[0])[1][likelihood.inputs[rows[model, row], variant] - 6]
    torch.testing.assert_close(expected[model, row, variant], layout.network(values[model], 0.0)(one))
    few.select(torch.tensor([1, 2]))
    torch.testing.assert_close(few.logits(layout.parts(values[1:]), rows[1:]), expected[1:])


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("distinct", [(8, 12), (8, 10)])
def test_rows_that_need_whole_runs_of_inputs_look_them_up_as_one(distinct, outputs):
    def in_runs(rows: int, inputs: int, seed: int) -> tuple[torch.Tensor, Observation]:
        matrix, likelihood = blend(rows, inputs, seed=seed)
        runs = FairInputs(pd.DataFrame(), torch.randint(0, inputs // 4, (rows,)), 4)
        return matrix, Observation(runs, None, likelihood.observed, 1)

    layout = Layout((3, 8, outputs))
    values = torch.stack([layout.initial(torch.Generator().manual_seed(seed)) for seed in range(3)])
    first, second = in_runs(40, distinct[0], 0), in_runs(30, distinct[1], 1)
    likelihood = second[1].stacked([first[1]], [0, distinct[1]])
    assert likelihood is not None
    rows = torch.stack([torch.randint(30, 70, (5,)), torch.randint(0, 30, (5,)), torch.randint(30, 70, (5,))])
    expected = ManyInputs(likelihood, torch.cat([second[0], first[0]])).logits(layout.parts(values), rows)
    few = FewInputs(likelihood, [first[0], second[0], first[0]], [distinct[1], 0, distinct[1]])
    torch.testing.assert_close(few.logits(layout.parts(values), rows), expected)
    few.select(torch.tensor([1, 2]))
    torch.testing.assert_close(few.logits(layout.parts(values[1:]), rows[1:]), expected[1:])


def test_dropout_keeps_the_mean_and_repeats_itself():
    x = torch.ones(3, 200, 50)
    found = Dropout(0.2, seed=4)(x)
    assert sorted(found.unique().tolist()) == [0.0, 1.25]
    assert abs(found.mean().item() - 1) < 0.02
    assert torch.equal(found, Dropout(0.2, seed=4)(x))
    layout = Layout((2, 8, 8, 1))
    parts = layout.parts(torch.ones(2, layout.numbers))
    assert forward(parts, torch.ones(2, 30, 2), Dropout(0.5, 0)).std() > 0


SIZES = [(3, 8, 5, 1), (2, 4, 3), (6, 2)]


@pytest.mark.parametrize("sizes", SIZES)
def test_a_new_network_is_what_nn_linear_would_draw(sizes):
    with torch.random.fork_rng():
        torch.manual_seed(11)
        expected = MLP(sizes[0], sizes[1:-1], sizes[-1])
    layout = Layout(sizes)
    found = layout.network(layout.initial(torch.Generator().manual_seed(11)), 0.0)
    for name, parameter in expected.state_dict().items():
        torch.testing.assert_close(found.state_dict()[name], parameter)
    assert layout.numbers == sum(parameter.numel() for parameter in expected.parameters())


@pytest.mark.parametrize("sizes", SIZES)
def test_many_networks_at_once_are_what_each_is_alone(sizes):
    layout = Layout(sizes)
    values = torch.stack([layout.initial(torch.Generator().manual_seed(seed)) for seed in range(4)])
    x = torch.randn(4, 10, sizes[0], generator=torch.Generator().manual_seed(0))
    together = forward(layout.parts(values), x, None)
    assert together.shape == (4, 10, sizes[-1])
    for model in range(4):
        torch.testing.assert_close(together[model], layout.network(values[model], 0.5)(x[model]))


def test_a_network_is_ordinary_trainable_and_its_own():
    layout = Layout((2, 4, 1))
    values = torch.zeros(layout.numbers)
    network = layout.network(values, 0.25)
    assert not network.training
    assert network.dropout.p == 0.25
    assert all(p.requires_grad and p.is_leaf and p.is_contiguous() for p in network.parameters())
    network(torch.ones(3, 5, 2)).sum().backward()
    values.fill_(1.0)
    assert network(torch.ones(2)).item() == 0.0


def test_dropout_only_acts_in_training():
    network = MLP(2, (64,), 1, dropout=0.5)
    x = torch.ones(5, 2)
    trained, used = network.train()(x), network.eval()(x)
    assert trained.std() > 0.01
    torch.testing.assert_close(used, used[:1].expand(5, 1))


def test_making_a_network_draws_no_random_numbers():
    before = torch.get_rng_state()
    layout = Layout((2, 4, 1))
    layout.network(layout.initial(torch.Generator().manual_seed(0)), 0.0)
    assert torch.equal(torch.get_rng_state(), before)


def test_parts_are_views_that_cover_a_row():
    layout = Layout((3, 8, 5, 2))
    values = torch.zeros(2, layout.numbers)
    for part in layout.parts(values):
        part += 1
    assert (values == 1).all()
    widths = [size for ins, outs in pairwise((3, 8, 5, 2)) for size in (ins * outs, outs)]
    assert [part[0].numel() for part in layout.parts(values)] == widths


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
