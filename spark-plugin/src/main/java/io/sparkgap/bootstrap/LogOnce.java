package io.sparkgap.bootstrap;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;

/** Logs each sentence once in a process, however many worlds there are of which it is true. */
final class LogOnce {
  /** Of more there would be no end. */
  private static final int MOST = 1000;

  private final Logger log;
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  LogOnce(Logger log) {
    this.log = log;
  }

  void info(String sentence) {
    if (isNew(sentence)) {
      log.info("{}", sentence);
    }
  }

  void warn(String sentence) {
    if (isNew(sentence)) {
      log.warn("{}", sentence);
    }
  }

  private boolean isNew(String sentence) {
    return said.size() < MOST && said.add(sentence);
  }
}
