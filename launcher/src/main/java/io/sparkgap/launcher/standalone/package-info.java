/** Spark's own cluster manager, asked through the JSON pages of its master and workers. */
package io.sparkgap.launcher.standalone;
