"""Counts words in sliding windows; a window is told once, when no more words can come for it."""

from pyspark.sql import functions as F

import arguments
import streams

parser = arguments.parser(__doc__)
parser.add_argument("--window", default="10 seconds", help="how long a window is")
parser.add_argument("--slide", default="5 seconds", help="how far apart windows begin")
options = parser.parse_args()

words = streams.words(streams.session(), options).withWatermark("timestamp", "5 seconds")
window = F.window("timestamp", options.window, options.slide)
counts = words.groupBy(window.alias("window"), "word").count()
streams.start(counts, options, "windowed", "append").awaitTermination()
