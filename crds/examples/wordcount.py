"""Counts words for ever: state that grows with the vocabulary."""

import arguments
import streams

options = arguments.parser(__doc__).parse_args()
counts = streams.words(streams.session(), options).groupBy("word").count()
streams.start(counts, options, "wordcount").awaitTermination()
