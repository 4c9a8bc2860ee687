/** The hands in an executor: only what must happen inside a task. */
package dev.sluice.executor;
