"""Parts and tiles of a kernel's result, and what each of them needs."""
