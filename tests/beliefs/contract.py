"""What every belief must fulfil; each belief's tests inherit it."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from problog4fairness.beliefs import (
    Belief,
    Distorted,
    MeasurementBias,
    ProgramBelief,
    admissible_values,
    belief_text,
    read_belief,
)
from problog4fairness.data import COUNT, Rows
from problog4fairness.errors import MissingValueError, P4FError, UnknownNameError
from problog4fairness.estimators import DebiasedClassifier
from problog4fairness.learners import Linear, Network
from problog4fairness.program import atom
from problog4fairness.statistics import check_known
from tests.oracle import problog_answer

LEARNERS = {
    "linear": "linear",
    "boosted": "boosted",
    "network": Network(networks=1, max_epochs=30),
    "estimator": LogisticRegression(),
}


class BeliefContract:
    """Give :meth:`make` (all parameters unknown), :meth:`known` (some values) and :meth:`simulate`."""

    without: tuple[str, ...] = ()

    def make(self) -> Belief:
        raise NotImplementedError

    def known(self) -> dict[str, float]:
        raise NotImplementedError

    def simulate(self, belief: Belief, rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict]:
        """Audited rows that the belief distorted, and the arguments of ``estimate``."""
        raise NotImplementedError

    def audit(self, belief: Belief, rows: int, rng: np.random.Generator) -> tuple[pd.DataFrame, dict]:
        """The same with all values in columns, which the arguments name."""
        frame, arguments = self.simulate(belief, rows, rng)
        columns: dict[str, np.ndarray] = {}

        def column(name: str, values: object) -> object:
            if isinstance(values, dict):
                return {key: column(f"{name} {key}", own) for key, own in values.items()}
            if isinstance(values, list):
                return [column(f"{name} {place}", own) for place, own in enumerate(values)]
            if isinstance(values, str):
                return values
            columns[name] = np.asarray(values)
            return name

        named = {name: column(name, values) for name, values in arguments.items()}
        return frame.assign(**columns), named

    def bound(self) -> Belief:
        return self.make().bind(self.known())

    def harmless(self) -> dict[str, float]:
        """The values with which the record is the fair label."""
        return dict.fromkeys(self.known(), 0.0)

    def people(self, belief: Belief, rows: int, rng: np.random.Generator) -> pd.DataFrame:
        """People with what the belief reads, the record aside, and two features: skill decides the fair label."""
        frame = pd.DataFrame({"skill": 3 * rng.normal(size=rows), "other": rng.normal(size=rows)})
        for variable in belief.variables:
            chosen = [variable.levels[level] for level in rng.integers(0, len(variable.levels), rows)]
            for number, column in enumerate(variable.columns):
                frame[column] = [level[number] if isinstance(level, tuple) else level for level in chosen]
        for column in belief.columns.sensitive:
            if column not in frame:
                frame[column] = rng.integers(0, 2, rows)
        for feature in belief.features:
            frame[feature] = rng.choice(getattr(belief, "measurement", belief).values[feature], rows)
        return frame

    def recorded(self, belief: Belief, frame: pd.DataFrame, rng: np.random.Generator):
        """What the belief says would be recorded of them, as ``fit`` takes it."""
        classes = belief.record.classes or (0, 1)
        seen = belief.observe(Rows(frame, tuple(frame.columns), classes))
        outcome = draw(seen.recorded_proba(log_fair(seen.table, len(classes))).numpy(), rng)
        return np.array([*classes, None], dtype=object)[outcome] if belief.record.gaps else np.array(classes)[outcome]

    def as_program(self, belief: Belief, frame: pd.DataFrame) -> tuple[ProgramBelief, pd.DataFrame]:
        """Its printed program as if somebody had written it, and the columns that it reads besides the features."""
        if distorted(belief):
            return about_the_label(belief, frame)
        two = {v.name: v.levels for v in belief.variables if v.binary and v.levels != (0, 1)}
        several = [variable for variable in belief.variables if len(variable.columns) > 1]
        columns = belief._network_columns() | {variable.name: variable.name for variable in several}
        program = ProgramBelief(str(belief), columns=columns, values=two, recorded=belief.columns.recorded)
        joined = {
            own.name: [atom(level) for level in frame[list(own.columns)].itertuples(index=False, name=None)]
            for own in several
        }
        return program, frame.drop(columns=["skill", "other"]).assign(**joined)

    def test_the_text_is_the_program(self):
        for belief in (self.make(), self.bound()):
            program = belief.program()
            assert str(belief) == program.text
            assert belief.text().startswith("%")
        assert set(self.bound().program().compile().data.leaves).isdisjoint(
            {leaf for leaf in self.make().program().compile().leaves if leaf.kind == "parameter"}
        )

    def test_named_and_bound_parameters_agree_with_problog(self):
        named, bound = self.make().program(), self.bound().program()
        generator = torch.Generator().manual_seed(0)
        networks = [leaf for leaf in named.compile().leaves if leaf.kind == "network"]
        for _ in range(2):
            nn = {}
            for leaf in networks:
                raw = torch.rand(len(leaf.outcomes) if leaf.outcomes else 1, generator=generator, dtype=torch.float64)
                nn[str(leaf)] = (raw / raw.sum()).tolist() if leaf.outcomes else raw.item()
            values = {name: torch.tensor(v, dtype=torch.float64) for name, v in nn.items()}
            expected = problog_answer(bound.text, nn=nn)
            for found in (bound.probability(values), named.probability(values, self.known())):
                assert {name: value.item() for name, value in found.items()} == pytest.approx(expected, abs=1e-12)

    def tables(self, belief: Belief) -> list[torch.Tensor]:
        label = label_table(belief)
        return [*feature_tables(belief).values(), *([] if label is None else [label])]

    def test_probabilities_of_all_outcomes_sum_to_one(self):
        tables = self.tables(self.bound())
        assert tables
        for table in tables:
            torch.testing.assert_close(table.sum(-1), torch.ones_like(table.sum(-1)))
            assert bool(((table >= 0) & (table <= 1)).all())

    def test_no_bias_is_the_identity(self):
        for table in self.tables(self.make().bind(self.harmless())):
            torch.testing.assert_close(table, torch.eye(*table.shape[-2:]).double().expand_as(table))

    def test_gradients_agree_with_finite_differences(self):
        circuit = self.make().program().compile()
        networks = {leaf: None for leaf in circuit.leaves if leaf.kind == "network"}
        nn = {str(leaf): torch.full((len(leaf.outcomes),), 1 / len(leaf.outcomes)).double() if leaf.outcomes else 0.4
              for leaf in networks}  # fmt: skip
        start = torch.tensor(list(self.known().values())).double().clamp(min=0.01).requires_grad_()

        def probability(values):
            return circuit.probability(nn, dict(zip(self.known(), values, strict=True)))

        assert torch.autograd.gradcheck(probability, (start,))

    def test_saving_and_loading_is_the_identity(self):
        for belief in (self.make(), self.bound()):
            again = Belief.from_json(json.loads(json.dumps(belief.to_json())))
            assert again == belief
            assert hash(again) == hash(belief)
            assert str(again) == str(belief)
            assert again.columns.sensitive == belief.columns.sensitive

    def test_its_field_values_lead_to_it(self):
        belief = self.bound()
        answers = json.loads(json.dumps(belief.field_values()))
        assert type(belief).from_fields(answers).bind(None).bind({}, favourable=belief.favourable) == belief.bind(None)
        with pytest.raises(P4FError, match="no field 'nonsense'"):
            type(belief).from_fields({**answers, "nonsense": 1})

    def test_beliefs_do_not_change(self):
        belief = self.make()
        before = str(belief)
        belief.bind(self.known())
        assert str(belief) == before
        assert belief != self.bound()

    def test_unknown_parameters_are_named(self):
        belief = self.make()
        first = next(own for own in belief.parameters if own.value is None)
        with pytest.raises(MissingValueError, match=first.name.partition("(")[0]):
            check_known(belief.parameters)
        with pytest.raises(UnknownNameError, match="no parameter 'nonsense'"):
            belief.bind({"nonsense": 0.1})

    def test_the_table_of_parameters(self):
        table = self.bound().parameter_table()
        assert table.loc[list(self.known()), "value"].tolist() == list(self.known().values())
        assert self.make().parameter_table()["value"].isna().all()

    @pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
    def test_estimates_on_simulated_data_are_near_the_truth_and_cover_it(self):
        truth, known, covered = self.bound(), self.known(), []
        for seed in range(4):
            audit, arguments = self.audit(truth, 4000, np.random.default_rng(seed))
            estimated = self.make().estimate(audit, **arguments)
            for found, expected in zip(self.tables(estimated), self.tables(truth), strict=True):
                assert (found - expected).abs().max() < 0.08
            table = estimated.parameter_table().loc[list(known)]
            covered += pd.Series(known).between(table["low"], table["high"]).tolist()
        assert np.mean(covered) >= 0.85

    @pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
    def test_intervals_have_the_confidence_that_was_asked_for_and_keep_it(self):
        audit, arguments = self.audit(self.bound(), 400, np.random.default_rng(0))
        usual, short = (self.make().estimate(audit, **arguments, confidence=level) for level in (0.95, 0.8))
        for wider, own in zip(usual.parameters, short.parameters, strict=True):
            if own.rows is not None:
                assert own.confidence == 0.8
                assert own.value == pytest.approx(wider.value, abs=1e-6)
                assert own.half_width <= wider.half_width
                assert "80%" in own.remark
                if own.at_boundary:
                    assert own.used == pytest.approx(wider.used, rel=0.02)
        assert read_belief(belief_text(short)) == short

    @pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
    def test_what_is_computed_with_is_what_an_estimated_program_says(self):
        audit, arguments = self.audit(self.bound(), 60, np.random.default_rng(0))
        belief = self.make().estimate(audit, **arguments)
        if all(own.value is not None for own in belief.parameters) and not isinstance(belief, ProgramBelief):
            assert read_belief(belief_text(belief)) == belief

    @pytest.mark.filterwarnings("ignore::problog4fairness.audit.AuditWarning")
    def test_counted_rows_say_what_the_rows_say(self):
        rng = np.random.default_rng(0)
        audit, arguments = self.audit(self.bound(), 400, rng)
        counts = rng.integers(1, 4, len(audit))
        places = np.repeat(np.arange(len(audit)), counts)
        counted = self.make().estimate(audit.assign(**{COUNT: counts}), **arguments)
        rows = self.make().estimate(audit.iloc[places].reset_index(drop=True), **arguments)
        pd.testing.assert_frame_equal(counted.parameter_table(), rows.parameter_table(), check_exact=True)

    @pytest.mark.parametrize("learner", LEARNERS)
    @pytest.mark.filterwarnings("ignore::problog4fairness.errors.LearningWarning")
    def test_every_learner_trains_through_it(self, learner):
        if learner in self.without:
            pytest.skip("this learner refuses it in one line")
        rng, belief = np.random.default_rng(0), self.bound()
        frame = self.people(belief, 600, rng)
        model = DebiasedClassifier(belief, LEARNERS[learner], random_state=0)
        model.fit(frame, self.recorded(belief, frame, rng))
        table = model.belief_.observe(Rows(frame, tuple(model.columns_), tuple(model.classes_))).table
        found = model.fitted_.log_proba(table)
        assert bool(found.isfinite().all())
        # It finds the fair label, not just something.
        clear = log_fair(table, len(model.classes_)).exp().max(1).values > 0.9
        right = found.argmax(1) == log_fair(table, len(model.classes_)).argmax(1)
        assert right[clear].double().mean() > 0.8

    def test_its_printed_program_trains_to_the_same_numbers(self):
        rng, belief = np.random.default_rng(1), self.bound()
        if isinstance(belief, ProgramBelief):
            pytest.skip("it is somebody's own program")
        # Few different people, so that every fair vector is a possible one of some row.
        frame = self.people(belief, 300, rng)
        frame[["skill", "other"]] = frame[["skill", "other"]].clip(-1, 1).round()
        y = self.recorded(belief, frame, rng)
        program, beside = self.as_program(belief, frame)
        features = ["skill", "other", *(name for name in belief.features if name != "skill")]
        # A template lists vectors that it rules out, too; in a penalty they count, in the likelihood they do not.
        learner = Linear(penalty=0.0) if distorted(belief) else "linear"
        ours = DebiasedClassifier(belief, learner, random_state=0)
        ours.fit(frame[features], y, sensitive_features=frame.drop(columns=features))
        order = list(ours.classes_ if belief.record.classes is None else belief.record.classes)
        found = ours.fitted_.log_proba(frame[features])[:, [list(ours.classes_).index(own) for own in order]]
        if belief.kind.predicts_from == "biased" and not belief.record.copied:
            # Applied when predicting: the record is learned as it is, and the program says what would be fair.
            ours.fit(frame[features].join(beside["a"]), y)
            theirs = DebiasedClassifier(None, learner, random_state=0).fit(frame[features], y)
            restored = program.observe(Rows(frame[features].join(beside), tuple(features), (0, 1)))
            fair = restored.recorded_proba(theirs.fitted_.log_proba(restored.table))
            np.testing.assert_allclose(ours.predict_proba(frame[features].join(beside["a"])), fair, atol=1e-6)
            return
        # The queries of a program are for the classes in order.
        coded = y if belief.record.classes is None else np.array([order.index(own) for own in y])
        theirs = DebiasedClassifier(program, learner, random_state=0)
        theirs.fit(frame[features], coded, sensitive_features=beside)
        torch.testing.assert_close(found, theirs.fitted_.log_proba(frame[features]), atol=1e-6, rtol=0)

    def test_it_says_and_shows_itself(self):
        belief = self.bound()
        assert all(sentence.endswith(".") for sentence in belief.words())
        assert belief.picture().nodes
        ours = type(belief).__module__.startswith("problog4fairness") and not isinstance(belief, ProgramBelief)
        assert belief.kind.identified_by.endswith(".") or not ours
        frame = self.people(belief, 40, np.random.default_rng(0))
        rows = Rows(frame, tuple(frame.columns), belief.record.classes or (0, 1))
        for own in belief.parameters:
            low, high = admissible_values(belief, own, rows)
            assert 0 <= low <= high <= 1

    def test_a_belief_file_is_read_back(self):
        for belief in (self.make(), self.bound()):
            assert read_belief(belief_text(belief)) == belief

    def test_repr_is_short_and_names_columns(self):
        assert all(column in repr(self.bound()) for column in self.bound().columns.sensitive)


def log_fair(table: pd.DataFrame, classes: int) -> torch.Tensor:
    """log P(fair class) of the people of :meth:`BeliefContract.people`: higher classes for more skill."""
    x = torch.tensor(table["skill"].to_numpy())
    return (torch.outer(x, torch.arange(classes).double()) - 0.5 * (torch.arange(classes) - 1.0) ** 2).log_softmax(1)


def label_table(belief: Belief) -> torch.Tensor | None:
    """P(recorded label | fair label, groups), where a belief distorts the label."""
    part = getattr(belief, "label", belief)
    return part.label_table() if hasattr(part, "label_table") else None


def feature_tables(belief: Belief) -> dict[str, torch.Tensor]:
    """P(fair value | recorded value, group) of each feature that a belief distorts."""
    measured = getattr(belief, "measurement", belief)
    return measured.feature_tables() if isinstance(measured, MeasurementBias) else {}


def distorted(belief: Belief) -> tuple[Distorted, ...]:
    """The features that a belief distorts, one by one or together."""
    return getattr(getattr(belief, "measurement", None) or belief, "parts", ())


def about_the_label(
    belief: Belief, frame: pd.DataFrame, among: tuple[Distorted, ...] | None = None
) -> tuple[ProgramBelief, pd.DataFrame]:
    r"""The printed program of fair features, with clauses that ask the classifier about every vector ``among`` them.

    ``y_h(X) :- income(X), \+job(X), asked(x_(1,0)).`` and so on; constants are rows with these values, as columns.
    """
    parts = distorted(belief)
    queries = tuple(f"?- {part.name}(x" for part in parts)
    kept = [line for line in str(belief).splitlines() if not line.startswith((*queries, "nn(h,"))]
    clauses, replaced, beside = ["nn(h,X) :: asked(X)."], {}, frame.drop(columns=["skill", "other"])
    among = among or parts
    for places in itertools.product(*(range(len(part.values)) for part in among)):
        constant = f"x_({','.join(map(str, places))})"
        replaced[constant] = {}
        goals = []
        for part, place in zip(among, places, strict=True):
            value = part.values[place]
            sign = "" if place else "\\+"
            goals.append(f"{sign}{part.name}(X)" if part.binary else f"{part.name}(X,{atom(value)})")
            for name, own in zip(part.features, value if part.together else [value], strict=True):
                replaced[constant][name] = f"{name} = {own}"
                beside[f"{name} = {own}"] = own
        clauses.append(f"y_h(X) :- {', '.join(goals)}, asked({constant}).")
    if not any(line.startswith("?-") for line in kept):
        clauses.append("?- y_h(x).")
    columns, values = belief._network_columns(), {}
    for part in parts:
        # Under a name of its own: learners do not read what networks read.
        columns[part.name] = f"{part.title} on record"
        known = frame[list(part.features)].itertuples(index=False, name=None)
        beside[columns[part.name]] = [atom(own) for own in known] if part.together else frame[part.title]
        if part.binary and part.values != (0, 1):
            values[part.name] = part.values
    text = "\n".join([*kept, *clauses])
    program = ProgramBelief(text, columns=columns, values=values, replaced=replaced)
    return program, beside.drop(columns=list(belief.features))


def draw(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One outcome from each row of probabilities."""
    return (table.cumsum(-1) < rng.random(len(table))[:, None]).sum(-1).clip(max=table.shape[-1] - 1)


def distorted_labels(belief: Belief, fair: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Recorded labels of people with these fair labels and (joint) groups."""
    return draw(label_table(belief).numpy()[groups, fair], rng)
