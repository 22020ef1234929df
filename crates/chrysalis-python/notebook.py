"""Runs a notebook from top to bottom, in the Python that runs this; `--write` keeps what it shows."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main() -> None:
    path = Path(sys.argv[1])
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}})
        client.execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = sum(bool(cell.outputs) for cell in cells)
    print(f"{path.name}: {len(cells)} cells ran, {shown} of them show something")
    if "--write" in sys.argv:
        for cell in cells:
            cell.metadata.clear()
            # Progress bars are gone in the end, and so is their place.
            cell.outputs = [it for it in cell.outputs if it.output_type != "display_data"]
        notebook.metadata.pop("language_info", None)
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
