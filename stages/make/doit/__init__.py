"""Part of the Make for doit: tasks, runner, reporter and database."""
