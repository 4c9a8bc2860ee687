"""Passes on the lines that match a pattern. No state, and a Python function for every row."""

import re

from pyspark.sql import functions as F

import arguments
import streams

parser = arguments.parser(__doc__)
parser.add_argument("--pattern", default=r"\blag\b|\bgate\b.*\bnode\b", help="a regular expression, as Python reads it")
options = parser.parse_args()
pattern = re.compile(options.pattern)


def matches(line: str) -> bool:
    """Whether a line is passed on."""
    return pattern.search(line) is not None


lines = streams.lines(streams.session(), options)
found = lines.where(F.udf(matches, "boolean", useArrow=False)("line"))  # without Arrow the image needs no pyarrow
streams.start(found, options, "grep", "append").awaitTermination()
