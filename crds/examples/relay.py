"""Copies a topic to another: in micro-batches, or with `--trigger 'realtime 5 seconds'` row by row."""

import arguments
import streams

options = arguments.parser(__doc__, source="kafka:clicks", sink="kafka:copies").parse_args()
_, topic = arguments.place(options.sink)
copies = streams.rows(streams.session(), options).select("key", "value")
writer = copies.writeStream.queryName("relay").outputMode("update").trigger(**options.trigger).format("kafka")
writer.option("kafka.bootstrap.servers", options.servers).option("topic", topic).start().awaitTermination()
