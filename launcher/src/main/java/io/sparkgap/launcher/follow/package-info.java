/**
 * An application from its submission to its end: what its driver and its cluster manager tell about
 * it, put together, shown, and in the end boiled down to one cause.
 */
package io.sparkgap.launcher.follow;
