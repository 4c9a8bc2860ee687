package dev.sluice.checkpoint;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;

/** Spark's log of offsets does not say whose they are; we note it beside the epochs when a query starts. */
final class SourceNames {
    private static final String FILE = "_sluice/sources.json";
    private static final int LONGEST = 1 << 16;
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private SourceNames() {
    }

    static Optional<List<String>> read(final Path root, final Configuration conf) throws IOException {
        final Path file = new Path(root, FILE);
        try (InputStream in = file.getFileSystem(conf).open(file)) {
            return Optional.of(MAPPER.readValue(in.readNBytes(LONGEST), new TypeReference<List<String>>() { }));
        } catch (final FileNotFoundException e) {
            return Optional.empty();
        }
    }

    static void write(final Path root, final Configuration conf, final List<String> names) throws IOException {
        if (read(root, conf).equals(Optional.of(names))) {
            return;
        }
        final Path file = new Path(root, FILE);
        try (FSDataOutputStream out = file.getFileSystem(conf).create(file, true)) {
            out.write(MAPPER.writeValueAsString(names).getBytes(StandardCharsets.UTF_8));
        }
    }
}
