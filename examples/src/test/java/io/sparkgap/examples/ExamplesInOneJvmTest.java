package io.sparkgap.examples;

/** The PEs are threads of one JVM. */
class ExamplesInOneJvmTest extends ExamplesOnSpark {
  ExamplesInOneJvmTest() {
    super("local[" + PES + "]");
  }
}
