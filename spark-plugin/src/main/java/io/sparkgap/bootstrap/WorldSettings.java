package io.sparkgap.bootstrap;

import java.time.Duration;

/**
 * How an executor makes its ends of worlds.
 *
 * @param provider what bootstraps them and owns their memory: "host"
 * @param peerTimeout how long a call waits for another PE
 * @param check whether PEs compare their calls before data moves
 * @param hostDirectory provider host: the tmpfs of the symmetric heap
 */
public record WorldSettings(
    String provider, Duration peerTimeout, boolean check, String hostDirectory) {}
