/**
 * The way in: looks at the Spark it finds itself in, before anything else of Sluice is loaded. Java 8, and of Spark's
 * classes only the plugin interfaces.
 */
package dev.sluice.entry;
