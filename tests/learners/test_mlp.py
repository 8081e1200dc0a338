from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from problog4fairness.learners.networks.stack import MLP, Layout, forward

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
