/**
 * Tuning tables: read from JSON, found, and given to the native library. Knows nothing of Spark.
 */
package io.sparkgap.tuning;
