package io.sparkgap.doctor;

import java.util.List;

/** Looks at one thing. */
interface Check {
  /** What the first of its findings is about, for where it comes to none. */
  String topic();

  /** In the order in which they are shown; one at least. */
  List<Finding> find() throws Exception;
}
