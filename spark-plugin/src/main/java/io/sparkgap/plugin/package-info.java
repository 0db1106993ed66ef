/**
 * Sparkgap in Spark's driver and executors: configuration, the plugin's two sides, what travels
 * through Spark. Not for users.
 */
package io.sparkgap.plugin;
