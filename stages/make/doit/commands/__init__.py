"""Commands that Lairmake adds to doit, a file each; pyproject.toml names them."""
