"""How do many runs happen? The paper's experiments as lists of runs, and who executes them: processes, or Ray."""
