"""What tests of pages share."""

from tests.fabric.conftest import library, recorded
from tests.picture.browser import browser

__all__ = ["browser", "library", "recorded"]
