/**
 * What {@code sparkgap bench} and {@code sparkgap tune} run on PEs: every call over sizes, types
 * and routes, timed and checked; and what the figures say of routes.
 */
package io.sparkgap.bench;
