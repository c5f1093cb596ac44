"""The rows of a sweep in a file: CSV, JSON lines or Parquet, by the file's name.

Rows are written as they come, so that what was done is there when a sweep is interrupted; `resume`
reads it back, without rows that failed and without a last one that is cut short. Parquet is written
whole at the end (by pyarrow, an extra); until then its rows are JSON lines in a file beside it.
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

__all__ = ["RowFile", "check_output"]

Row = dict[str, Any]
_SUFFIXES = (".csv", ".jsonl", ".parquet")
_TEXTS = ("model", "device", "hardware", "error")


def check_output(path: str) -> None:
    """Raise `ValueError` for a name that says no format, `ImportError` without what it needs."""
    if not path.endswith(_SUFFIXES):
        raise ValueError(f"{path}: expected a name that ends in {', '.join(_SUFFIXES)}")
    if path.endswith(".parquet"):
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise ImportError(f"{path}: Parquet needs pyarrow: pip install pyarrow") from None


class RowFile:
    """A file that rows are added to; use it as a context. `kept`: the rows that were there."""

    def __init__(self, path: str, columns: Sequence[str], resume: bool = False) -> None:
        check_output(path)
        self.path = path
        self.columns = list(columns)
        self._lines = f"{path}.rows" if path.endswith(".parquet") else path
        self.kept = [row for row in self._read() if not row["error"]] if resume else []
        self._file: TextIO | None = None

    def __enter__(self) -> "RowFile":
        beside = f"{self._lines}.new"
        with open(beside, "w", encoding="utf-8", newline="") as file:
            if self._lines.endswith(".csv"):
                file.write(self._csv_line(self.columns))
            file.writelines(map(self._line, self.kept))
        os.replace(beside, self._lines)
        self._file = open(self._lines, "a", encoding="utf-8", newline="")
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        assert self._file is not None
        self._file.close()
        if self._lines != self.path and kind is None:
            self._write_parquet()

    def add(self, rows: Iterable[Row]) -> None:
        """Write rows, at once."""
        assert self._file is not None
        self._file.writelines(map(self._line, rows))
        self._file.flush()

    # -- formats ----------------------------------------------------------------------------------

    def _line(self, row: Row) -> str:
        if self._lines.endswith(".csv"):
            return self._csv_line([_cell(row[name]) for name in self.columns])
        return json.dumps({name: row[name] for name in self.columns}) + "\n"

    def _csv_line(self, cells: Iterable[str]) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        return text.getvalue()

    def _read(self) -> list[Row]:
        """The rows of a file that was left; those of other columns are none of this sweep's."""
        if self._lines != self.path and os.path.exists(self.path):
            import pyarrow.parquet as parquet

            return [row for row in parquet.read_table(self.path).to_pylist() if self._fits(row)]
        try:
            with open(self._lines, encoding="utf-8", newline="") as file:
                rows = self._read_csv(file) if self._lines.endswith(".csv") else _read_lines(file)
                return [row for row in rows if self._fits(row)]
        except FileNotFoundError:
            return []

    def _fits(self, row: Mapping[str, Any]) -> bool:
        return list(row) == self.columns

    def _read_csv(self, file: TextIO) -> list[Row]:
        lines = csv.reader(line for line in file if line.endswith("\n"))
        heads = next(lines, [])
        whole = (cells for cells in lines if len(cells) == len(heads))
        found = [dict(zip(heads, cells, strict=True)) for cells in whole]
        return [{name: _value(name, cell) for name, cell in row.items()} for row in found]

    def _write_parquet(self) -> None:
        import pyarrow
        import pyarrow.parquet as parquet

        with open(self._lines, encoding="utf-8") as file:
            rows = _read_lines(file)
        kinds = {name: pyarrow.string() for name in _TEXTS} | {"fits": pyarrow.bool_()}
        fields = [(name, kinds.get(name, pyarrow.int64())) for name in self.columns]
        parquet.write_table(pyarrow.Table.from_pylist(rows, pyarrow.schema(fields)), self.path)
        os.unlink(self._lines)


def _read_lines(file: Iterable[str]) -> list[Row]:
    return [json.loads(line) for line in file if line.endswith("}\n")]


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _value(name: str, cell: str) -> Any:
    if not cell:
        return None
    if name in _TEXTS:
        return cell
    return cell == "True" if name == "fits" else int(cell)
