/** What {@code sparkgap doctor} makes of what was found, and how it shows it. */
package io.sparkgap.launcher.doctor;
