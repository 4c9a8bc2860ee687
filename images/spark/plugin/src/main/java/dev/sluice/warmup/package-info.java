/**
 * What a waiting driver does with its time: runs the query's own plan on made-up rows, and opens the state it will go on from.
 * After it the first batch costs what any other costs. Nothing here may fail the query.
 */
package dev.sluice.warmup;
