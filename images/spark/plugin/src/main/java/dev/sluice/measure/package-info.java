/**
 * What each batch did: who worked how long on how many rows, what went over the network between whom. All from one listener
 * on Spark's own bus, so a batch's tasks are known before its progress is; its own time is counted with it.
 */
package dev.sluice.measure;
