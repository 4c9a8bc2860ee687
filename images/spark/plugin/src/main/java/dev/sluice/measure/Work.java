package dev.sluice.measure;

import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.spark.executor.TaskMetrics;

/** What one executor did for one batch. */
final class Work {
    private final Latencies latencies = new Latencies();
    private long tasks;
    private long failed;
    private long rows;
    private long inputBytes;
    private long runMs;
    private long cpuNs;
    private long pythonMs;
    private long gcMs;
    private long localBytes;
    private long remoteBytes;
    private long fetchWaitMs;
    private long writtenBytes;
    private long lostMs;
    private long scanRows;
    private long scanMs;
    private long beatenMs;

    void add(final TaskMetrics task, final long durationMs, final long inPythonMs) {
        tasks++;
        latencies.add(durationMs);
        rows += task.inputMetrics().recordsRead();
        inputBytes += task.inputMetrics().bytesRead();
        runMs += task.executorRunTime();
        cpuNs += task.executorCpuTime();
        pythonMs += inPythonMs;
        gcMs += task.jvmGCTime();
        localBytes += task.shuffleReadMetrics().localBytesRead();
        remoteBytes += task.shuffleReadMetrics().remoteBytesRead();
        fetchWaitMs += task.shuffleReadMetrics().fetchWaitTime();
        writtenBytes += task.shuffleWriteMetrics().bytesWritten();
    }

    /** It has read rows of the batch's input, and was done with them so long after the stage began. */
    void addScan(final long scannedRows, final long sinceMs) {
        scanRows += scannedRows;
        scanMs = Math.max(scanMs, sinceMs);
    }

    /**
     * It had not read what it was given so long after the stage began, when another attempt had. That its task took so long
     * counts: else an executor whose every task is beaten would have no latency at all.
     */
    void addBeaten(final long sinceMs, final long ranMs) {
        beatenMs = Math.max(beatenMs, sinceMs);
        latencies.add(ranMs);
    }

    /** It failed, or another attempt was faster: what it did is lost. */
    void addFailure(final long durationMs) {
        failed++;
        lostMs += durationMs;
    }

    void addTo(final ObjectNode node) {
        node.put("tasks", tasks).put("failed", failed).put("rows", rows).put("inputBytes", inputBytes);
        node.put("runMs", runMs).put("cpuMs", cpuNs / 1_000_000).put("pythonMs", pythonMs).put("gcMs", gcMs);
        node.put("localBytes", localBytes).put("remoteBytes", remoteBytes).put("fetchWaitMs", fetchWaitMs);
        node.put("writtenBytes", writtenBytes);
        node.put("lostMs", lostMs).put("scanRows", scanRows).put("scanMs", scanMs).put("beatenMs", beatenMs);
        latencies.addTo(node.putArray("taskMs"));
    }
}
