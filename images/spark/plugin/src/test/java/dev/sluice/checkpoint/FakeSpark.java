package dev.sluice.checkpoint;

import org.apache.hadoop.fs.Path;

/** A query as gate and drain see it, without Spark. */
final class FakeSpark implements Query.Spark {
    volatile boolean active = true;
    volatile boolean ended;
    volatile boolean realTime;
    volatile long batch;
    private final Path root;

    FakeSpark(final String root) {
        this.root = new Path(root);
    }

    @Override
    public String name() {
        return root.getName();
    }

    @Override
    public String id() {
        return "id-" + name();
    }

    @Override
    public String runId() {
        return "run-" + name();
    }

    @Override
    public Path root() {
        return root;
    }

    @Override
    public boolean isRealTime() {
        return realTime;
    }

    @Override
    public long batch() {
        return batch;
    }

    @Override
    public boolean isActive() {
        return active;
    }

    @Override
    public boolean hasEnded() {
        return ended;
    }

    @Override
    public boolean isIdle() {
        return true;
    }

    @Override
    public void stop() {
        active = false;
    }
}
