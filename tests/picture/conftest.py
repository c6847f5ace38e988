"""What tests of pages share."""

from tests.picture.browser import browser

__all__ = ["browser"]
