"""Programs of the virtual machine as data: all that is in C is in build/program.yaml."""

from lairmake.stages.pe.speller import WORDS, spell
from lairmake.stages.pe.yaml import read_programs, write_programs
from lairmake.stages.yaml_limits import load


def assert_programs_read_back(files):
    """Assert that C is spelled, and YAML written, as before of what is read of build/program.yaml.
    """
    text = files["build/program.yaml"]
    programs = read_programs(load(text))
    assert write_programs(programs) == text
    assert set(programs) == {"vm"}
    texts = {f"build/vm/pe_{role}.c": spell(each) for role, each in programs["vm"].items()}
    assert texts == {name: each for name, each in files.items() if name.startswith("build/vm/")}
    assert all(spell(each, WORDS) for each in programs["vm"].values())
