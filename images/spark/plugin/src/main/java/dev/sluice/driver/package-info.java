/** The hands in Spark's driver, put together: hears orders from the agent, carries them out, says where things stand. */
package dev.sluice.driver;
