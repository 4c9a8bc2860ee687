package dev.sluice.split;

import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/** What one task reads, one after another; travels with it. */
final class Piece implements InputPartition {
    private static final long serialVersionUID = 1L;

    private final InputPartition[] parts;
    private final String location;

    Piece(final List<InputPartition> parts, final String location) {
        this.parts = parts.toArray(InputPartition[]::new);
        this.location = location;
    }

    InputPartition[] parts() {
        return parts;
    }

    @Override
    public String[] preferredLocations() {
        return new String[] {location};
    }
}
