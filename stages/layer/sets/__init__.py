"""What tasks run and keep, as sets: in local memory, of instances, their boxes and sizes."""
