/** What Spark's own objects keep to themselves. */
package dev.sluice.inside;
