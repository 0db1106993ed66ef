/**
 * What Sparkgap promises on every Spark, as applications that are submitted to it: each one checks
 * itself, prints what it found to hold, and fails otherwise.
 */
package io.sparkgap.contract;
