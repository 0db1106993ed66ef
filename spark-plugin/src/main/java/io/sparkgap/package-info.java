/**
 * What users name: {@link io.sparkgap.Sparkgap}, the functions that it runs, and the plugin that
 * Spark loads. Everything else is in {@code io.sparkgap.api}.
 */
package io.sparkgap;
