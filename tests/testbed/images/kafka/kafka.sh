#!/bin/sh
# server: formats its storage when it is new and serves. Any other word is one of Kafka's own tools:
#   topics, producer, consumer, offsets, perf
set -eu
run() { exec java ${KAFKA_HEAP:--Xmx256m} -XX:+UseSerialGC -Dlog4j2.configurationFile=/opt/kafka/log4j2.xml -cp '/opt/kafka/jars/*' "$@"; }
tool=$1
shift
case $tool in
server)
    (run kafka.tools.StorageTool format --ignore-formatted --config /opt/kafka/server.properties --cluster-id c2x1aWNlLXRlc3RiZWQx)
    run kafka.Kafka /opt/kafka/server.properties ;;
topics) run org.apache.kafka.tools.TopicCommand --bootstrap-server localhost:9092 "$@" ;;
producer) run org.apache.kafka.tools.ConsoleProducer --bootstrap-server localhost:9092 "$@" ;;
consumer) run org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server localhost:9092 "$@" ;;
offsets) run org.apache.kafka.tools.GetOffsetShell --bootstrap-server localhost:9092 "$@" ;;
perf) run org.apache.kafka.tools.ProducerPerformance "$@" ;;
*) echo "kafka: unknown word '$tool'; server, topics, producer, consumer, offsets or perf" >&2; exit 2 ;;
esac
