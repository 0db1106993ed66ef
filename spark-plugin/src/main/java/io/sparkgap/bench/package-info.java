/**
 * What {@code sparkgap bench} and {@code sparkgap tune} run on PEs: every call over sizes, types
 * and routes, timed and checked.
 */
package io.sparkgap.bench;
