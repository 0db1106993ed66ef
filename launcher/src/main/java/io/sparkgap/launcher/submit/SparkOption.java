package io.sparkgap.launcher.submit;

/**
 * The options that spark-submit has as well, and the setting that each of them is. They are handed
 * on as those settings, so that an option and a {@code --conf} for the same thing are compared.
 */
public enum SparkOption {
  DEPLOY_MODE(
      "--deploy-mode",
      "client|cluster",
      "spark.submit.deployMode",
      "Where the driver runs: here, or on the cluster (default: client)."),
  NAME("--name", "NAME", "spark.app.name", "The application's name."),
  QUEUE("--queue", "NAME", "spark.yarn.queue", "YARN's queue (default: default)."),
  NODE_LABEL(
      "--node-label",
      "LABEL",
      "spark.yarn.executor.nodeLabelExpression",
      "YARN: only nodes with this label hold executors."),
  JARS("--jars", "JARS", "spark.jars", "Jars for driver and executors, separated by commas."),
  PY_FILES(
      "--py-files",
      "FILES",
      "spark.submit.pyFiles",
      ".zip, .egg or .py files for Python applications."),
  FILES("--files", "FILES", "spark.files", "Files for each executor's working directory."),
  ARCHIVES(
      "--archives",
      "ARCHIVES",
      "spark.archives",
      "Archives that are unpacked into each executor's working directory."),
  EXECUTOR_CORES(
      "--executor-cores",
      "N",
      "spark.executor.cores",
      "Cores of each executor: it holds as many PEs, or one with a GPU (default: 1)."),
  EXECUTOR_MEMORY(
      "--executor-memory",
      "MEM",
      "spark.executor.memory",
      "Java heap of each executor (Spark's default: 1g)."),
  DRIVER_MEMORY(
      "--driver-memory",
      "MEM",
      "spark.driver.memory",
      "Java heap of the driver (Spark's default: 1g)."),
  DRIVER_CORES(
      "--driver-cores",
      "N",
      "spark.driver.cores",
      "Cores of a driver on the cluster (Spark's default: 1)."),
  NUM_EXECUTORS(
      "--num-executors",
      "N",
      "spark.executor.instances",
      "YARN: executors, if not as many as the PEs need."),
  TOTAL_EXECUTOR_CORES(
      "--total-executor-cores",
      "N",
      "spark.cores.max",
      "Standalone: cores of all executors, if not as many as the PEs need."),
  PACKAGES("--packages", "COORDINATES", "spark.jars.packages", "Jars by Maven coordinates."),
  EXCLUDE_PACKAGES(
      "--exclude-packages",
      "COORDINATES",
      "spark.jars.excludes",
      "What --packages shall not bring."),
  REPOSITORIES(
      "--repositories", "URLS", "spark.jars.repositories", "Where --packages looks as well."),
  DRIVER_JAVA_OPTIONS(
      "--driver-java-options",
      "OPTIONS",
      "spark.driver.extraJavaOptions",
      "Options of the driver's JVM."),
  DRIVER_CLASS_PATH(
      "--driver-class-path",
      "PATH",
      "spark.driver.extraClassPath",
      "Put before the driver's class path."),
  DRIVER_LIBRARY_PATH(
      "--driver-library-path",
      "PATH",
      "spark.driver.extraLibraryPath",
      "Put before the driver's library path."),
  PRINCIPAL(
      "--principal",
      "PRINCIPAL",
      "spark.kerberos.principal",
      "Kerberos: log in as this principal."),
  KEYTAB("--keytab", "FILE", "spark.kerberos.keytab", "Kerberos: and with this keytab.");

  private final String option;
  private final String label;
  private final String key;
  private final String description;

  SparkOption(String option, String label, String key, String description) {
    this.option = option;
    this.label = label;
    this.key = key;
    this.description = description;
  }

  public String option() {
    return option;
  }

  /** What its value is called in the help. */
  public String label() {
    return label;
  }

  /** Of Spark's settings. */
  public String key() {
    return key;
  }

  public String description() {
    return description;
  }
}
