"""What a person is told: the results of a build, what changed in what stages wrote, and why."""
