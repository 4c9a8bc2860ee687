/** Readers of Real-Time queries that can be told to end their batch: planned in the driver, asking from the executors. */
package dev.sluice.realtime;
