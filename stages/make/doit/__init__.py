"""doit's part of the Make: tasks, runner, reporter, and what doit remembers."""
