from __future__ import annotations

from torch import nn

from problog4fairness.learners.networks.training import History


def test_the_best_epoch_is_the_first_with_the_lowest_validation_loss():
    history = History()
    improved = [history.add(train, validation) for train, validation in [(1, 3), (0, 2), (9, 4), (0, 2), (0, 2)]]
    assert improved == [True, True, False, False, False]
    assert (history.best_epoch, history.epochs) == (2, 5)


def test_patience_counts_the_epochs_after_the_best():
    history = History()
    assert not history.waited(1)
    for validation, waited in [(3, False), (4, False), (2, False), (5, False), (2, True)]:
        history.add(0, validation)
        assert history.waited(2) is waited


def test_a_fit_has_what_was_seen():
    history = History([0.5, 0.4], [0.6, 0.7], 1)
    network = nn.Identity()
    fit = history.fit(network, seed=3)
    assert (fit.network, fit.seed, fit.best_epoch, fit.epochs) == (network, 3, 1, 2)
    assert (fit.train_loss, fit.validation_loss) == ((0.5, 0.4), (0.6, 0.7))
