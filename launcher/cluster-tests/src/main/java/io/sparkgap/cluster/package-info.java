/**
 * A YARN in one process, for tests of the {@code sparkgap} command and for whoever wants to try.
 */
package io.sparkgap.cluster;
