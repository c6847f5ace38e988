"""What every test shares: hypothesis draws the same examples in every run."""

import hypothesis

hypothesis.settings.register_profile("same", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("same")
