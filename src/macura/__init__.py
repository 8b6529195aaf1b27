"""Data-efficient reinforcement learning with models that know where to trust themselves."""
