"""Tools that write documents and measure; they are not shipped."""
