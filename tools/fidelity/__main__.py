"""Writer of docs/fidelity.md, from runs of the programs whose cycles are published."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from lairmake.stages.make.store.files import write_whole
from tools.fidelity.rows import read_rows
from tools.fidelity.running import compiled
from tools.fidelity.tables import document, list_tables, run_measured, run_models


def main() -> None:
    """Write the document below the present folder, and print the tables of what was measured."""
    rows = read_rows()
    with TemporaryDirectory() as folder:
        library = compiled(Path(folder))
        measured = run_measured(library, rows)
        text = document(rows, run_models(library, rows.models), measured)
    write_whole(Path("docs/fidelity.md"), text.encode())
    print(list_tables(rows, measured))


if __name__ == "__main__":
    main()
