"""Any scikit-learn classifier through an observation, by expectation and maximisation."""
