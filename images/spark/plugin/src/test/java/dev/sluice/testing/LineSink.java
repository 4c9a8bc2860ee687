package dev.sluice.testing;

import java.io.BufferedWriter;
import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import org.apache.spark.sql.ForeachWriter;
import org.apache.spark.sql.Row;

/** Appends each row to a file of its partition, at once: what is written there has left the query. */
public final class LineSink extends ForeachWriter<Row> {
    private static final long serialVersionUID = 1L;
    private final String file;
    private transient PrintWriter out;

    /** A sink.
     * @param file the start of the files' names */
    public LineSink(final String file) {
        this.file = file;
    }

    @Override
    public boolean open(final long partition, final long batch) {
        try {
            out = new PrintWriter(new BufferedWriter(new FileWriter(file + "." + partition, true)));
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
        return true;
    }

    @Override
    public void process(final Row row) {
        out.println(row.getLong(0));
        out.flush();
    }

    @Override
    public void close(final Throwable error) {
        if (out != null) {
            out.close();
        }
    }
}
