package io.sparkgap.examples;

/** Each PE is an executor, a process of its own. */
class ExamplesOnExecutorsTest extends ExamplesOnSpark {
  ExamplesOnExecutorsTest() {
    super("local-cluster[" + PES + ",1,1024]");
  }
}
