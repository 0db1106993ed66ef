/** What {@code sparkgap bench} and {@code sparkgap tune} make of what was measured. */
package io.sparkgap.launcher.bench;
