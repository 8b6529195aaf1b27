"""How does a person start it? Every subcommand is a module with `run(arguments) -> exit code`.

Nothing is imported here, so that `macura --help` answers at once.
"""
