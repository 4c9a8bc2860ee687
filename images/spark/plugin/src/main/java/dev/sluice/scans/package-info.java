/** Changes what Spark has planned to read a source with; by whom and how is {@code realtime}'s and {@code split}'s. */
package dev.sluice.scans;
