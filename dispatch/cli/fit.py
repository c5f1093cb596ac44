"""`dispatch fit`: the largest sizes of a model that a memory holds.

The search is `graph.fit`; here are its options, its tables and charts in the terminal, and the
files: a page, Markdown, JSON. Exit code 1: nothing fits.
"""

import json
from collections.abc import Iterator

import click

from dispatch import graph
from dispatch.cli.chart import Axis, chart
from dispatch.cli.console import UserError, draw, grid, plain, standard_output, user_errors
from dispatch.cli.files import check_paths, showing, write_reports
from dispatch.cli.imports import import_option
from dispatch.cli.sizes import SizesCommand, free_option, load, read_sizes
from dispatch.graph import text
from dispatch.graph.checks import read_amount
from dispatch.graph.fit_page import fit_page

__all__ = ["fit"]

_CHART_WIDTH = 78
_FAR = 10  # times the highest peak: a limit above this would press the curve flat
_OUTPUT = click.Path(readable=False)


@click.command(cls=SizesCommand, short_help="The largest sizes that fit into a memory.")
@click.argument("model", type=click.Path())
@click.option("--memory", required=True, help="What there is: 80GB, 24GiB.")
@click.option(
    "--vary", multiple=True, metavar="NAME",
    help="A size to vary, such as batch or seq; at most two. Else the first two there are.",
)  # fmt: skip
@click.option(
    "--set", "sizes", multiple=True, metavar="NAME=SIZE...",
    help="Other sizes than the recorded ones, for what does not vary: seq=2048.",
)  # fmt: skip
@free_option
@import_option
@click.option("--device", help="Run as if on this device, such as cuda.")
@click.option("--json", "json_path", type=_OUTPUT, help="Write the answer; - is stdout.")
@click.option("--html", "html_path", type=_OUTPUT, help="Write a page; - is stdout.")
@click.option("--markdown", "markdown_path", type=_OUTPUT, help="Write a summary; - is stdout.")
@click.pass_context
def fit(
    context: click.Context,
    model: str,
    memory: str,
    vary: tuple[str, ...],
    sizes: tuple[str, ...],
    free: tuple[str, ...],
    device: str | None,
    json_path: str | None,
    html_path: str | None,
    markdown_path: str | None,
) -> None:
    """The largest sizes with which MODEL stays within a memory: those that it was exported with as
    dynamic, or that `--free` names.

    Exit code 0: something fits; 1: nothing.
    """
    written = {"--json": json_path, "--html": html_path, "--markdown": markdown_path}
    with user_errors():
        check_paths(written, {"MODEL": model})
        limit = int(read_amount(memory, "--memory"))
        wanted = read_sizes(sizes)
        module = load(model, free)
        try:
            found = graph.fit(module, limit, vary, device=device, sizes=wanted)
        except ValueError as error:
            raise UserError(plain(f"{model}: {error}").plain) from None
        content = write_reports(
            written,
            {
                "--json": lambda: json.dumps(found.to_json()) + "\n",
                "--html": lambda: fit_page(found),
                "--markdown": lambda: text.markdown_tables(found.title, found.tables()),
            },
        )
    showing(content, lambda: _print(found))()
    if found.is_empty:
        context.exit(1)


def _print(found: graph.Fit) -> None:
    console = standard_output()
    console.print(grid(found.facts()))
    for table in found.tables():
        console.print()
        console.print(plain(table.title), style="bold")
        console.print(draw(table, console.width))
    braille = console.encoding.lower().startswith("utf")
    for lines in _charts(found, min(console.width, _CHART_WIDTH), braille):
        console.print()
        for line in lines:
            console.print(plain(line), soft_wrap=True)


def _charts(found: graph.Fit, width: int, braille: bool) -> Iterator[list[str]]:
    """The peak by each size, with the memory across; the largest second size by the first."""
    size = "{:,}".format
    for row in found.curves:
        if len(row["points"]) > 1:
            near = max(peak for _, peak in row["points"]) * _FAR >= found.memory
            title = "peak" if near else f"peak ({text.bytes_text(found.memory)} is far above)"
            yield chart(
                row["points"], Axis(row["name"], size), Axis(title, text.bytes_text),
                limit=found.memory if near else None, width=width, braille=braille,
            )  # fmt: skip
    rows = [(next(iter(row["at"].values())), row["value"]) for row in found.frontier]
    points = [(x, y) for x, y in rows if y]
    if len(points) > 1:
        first, second = (Axis(row["name"], size, True) for row in found.largest)
        yield chart(points, first, second._replace(name=f"largest {second.name}"), width=width,
                    braille=braille)  # fmt: skip
