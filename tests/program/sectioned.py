"""The files of programs up to sections.yaml, in this process."""

from lairmake.stages.diagnose import Source
from lairmake.stages.program import exchange, remember, section
from lairmake.stages.program.il.run import capture_program
from lairmake.stages.program.irg.graph_yaml import read_graph
from lairmake.stages.program.sections.sections_yaml import read_sections
from lairmake.stages.program.source.translation import translate_source
from lairmake.stages.program.values.api import set_parameters
from tests.program.given import Given

NAME = "program.py"


def section_program(source, settings="", **parameters):
    """Return the files of a program, as far as the sections. Raises whatever stages raise."""
    set_parameters(parameters)
    il = translate_source(Source(path=NAME, text=source)).text
    files = {"program.yaml": settings, NAME: source, "program.il": il}
    files |= capture_program(il, source, NAME)
    return section_graph(files)


def section_graph(files):
    """Return the files of a graph with what remember, exchange and section write."""
    for run in (remember.run, exchange.run, section.run):
        files = files | run(Given(files))
    return files


def read_files(files):
    """Return the graph of files, and its sections."""
    text = {name: files[name] if isinstance(files[name], str) else files[name].decode()
            for name in ("graph.yaml", "objects.yaml", "filters.isl", "sections.yaml")}
    sources = {name: Source(path=name, text=each) for name, each in text.items()}
    graph = read_graph(sources["graph.yaml"], sources["objects.yaml"])
    return graph, read_sections(sources["sections.yaml"], sources["filters.isl"], graph)
