/** When Spark runs a straggler's task a second time: set anew between batches, as the agent says. */
package dev.sluice.speculate;
