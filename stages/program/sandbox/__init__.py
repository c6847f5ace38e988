"""The process that runs the code of a user, and its link to the parent process."""
