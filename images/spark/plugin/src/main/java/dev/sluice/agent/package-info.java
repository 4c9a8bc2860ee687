/**
 * The plugin's side of its one conversation: a client of the agent over loopback. PROTOCOL.md says what is said. Java 8,
 * for the entry speaks from any image.
 */
package dev.sluice.agent;
