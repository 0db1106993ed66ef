package io.sparkgap.launcher.submit;

import java.nio.file.Path;
import java.time.Duration;

/**
 * What the command line asks for, beside Spark's settings.
 *
 * @param pes how many; 0 if it does not say
 * @param gpusPerPe 0 or 1
 * @param patience how long the application may wait for its executors
 * @param pluginJar Sparkgap's jar on this machine
 * @param discoveryScript finds the GPUs of a node
 * @param eventsFile where the driver writes how it gets on
 * @param tag names this submission
 */
public record Asked(
    Master master,
    int pes,
    int gpusPerPe,
    Duration patience,
    Path pluginJar,
    Path discoveryScript,
    String eventsFile,
    String tag) {}
