/**
 * The way in: looks at the Spark it finds itself in, before anything else of Sluice is loaded. Java 8, no Spark class.
 */
package dev.sluice.entry;
