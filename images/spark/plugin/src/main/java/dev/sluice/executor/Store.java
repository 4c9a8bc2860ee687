package dev.sluice.executor;

import dev.sluice.checkpoint.Epochs;
import dev.sluice.checkpoint.Fence;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;

/** Where the checkpoints lie of the queries whose tasks ran here. */
final class Store implements Apart.Peer {
    private static final long PATIENCE_MS = 8_000;

    private FutureTask<Boolean> asked;

    @Override
    public boolean answers() throws InterruptedException {
        if (asked == null || asked.isDone()) { // a mount that hangs keeps its thread: one is enough
            asked = new FutureTask<>(Store::ask);
            final Thread thread = new Thread(asked, "sluice-store");
            thread.setDaemon(true);
            thread.start();
        }
        try {
            return asked.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
        } catch (final TimeoutException e) {
            return false;
        } catch (final ExecutionException e) {
            return !isOfNetwork(e);
        }
    }

    /** Without a checkpoint nobody takes over. */
    private static boolean ask() throws IOException {
        final Configuration conf = SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
        for (final String root : Fence.roots()) {
            new Epochs(new Path(root), conf).highest();
        }
        return true;
    }

    /** Any other failure is an answer. */
    static boolean isOfNetwork(final Throwable why) {
        for (Throwable at = why; at != null; at = at.getCause()) {
            if (at instanceof SocketException || at instanceof SocketTimeoutException || at instanceof UnknownHostException) {
                return true;
            }
        }
        return false;
    }
}
