package dev.sluice.split;

/**
 * Some of the rows of one of a source's partitions.
 *
 * @param partition its number in the source's own plan
 * @param from the first row, counted from 0
 * @param to the row after the last
 */
record Range(int partition, long from, long to) {
}
