package dev.sluice.split;

import java.util.List;

/**
 * What one task reads.
 *
 * @param executor who is to run it
 * @param ranges in the source's own order
 */
record Cut(Crew.Member executor, List<Range> ranges) {
}
