/**
 * A batch's input cut anew: who reads how much of it, as the agent says. What cannot be cut, or is
 * not told of, stays the source's own plan.
 */
package dev.sluice.split;
