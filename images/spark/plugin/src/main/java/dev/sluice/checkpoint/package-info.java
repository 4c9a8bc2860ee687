/**
 * Gate, drain, fence: Spark's {@code CheckpointFileManager} with a keeper in front, because everything a query promises goes
 * through it. The stream thread waits at its first look at {@code offsets/} (gate), before {@code offsets/N+1} (drain), and
 * every write first looks for a higher epoch (fence).
 */
package dev.sluice.checkpoint;
