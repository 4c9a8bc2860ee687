"""The most frequent words so far: every batch gives the whole answer anew."""

from pyspark.sql import functions as F

import arguments
import streams

parser = arguments.parser(__doc__)
parser.add_argument("--k", type=int, default=5, help="how many words")
options = parser.parse_args()

counts = streams.words(streams.session(), options).groupBy("word").count()
top = counts.orderBy(F.desc("count"), "word").limit(options.k)
streams.start(top, options, "topk", "complete").awaitTermination()
