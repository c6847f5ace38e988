"""Run programs on a layout that a test has written as mappings and lists."""

from lairmake.stages.fabric import driver
from lairmake.stages.fabric.layout import FabricLayout
from lairmake.stages.mapping.records import reader_of


def from_data(type_, data):
    """Return a dataclass of what YAML says."""
    return reader_of(type_)(data, ())


def run_fabric(library, layout, *arguments, **options):
    """Run the programs of a library, as the driver does."""
    return driver.run_fabric(library, from_data(FabricLayout, layout), *arguments, **options)
