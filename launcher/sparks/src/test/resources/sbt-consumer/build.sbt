// Somebody's project, which has Sparkgap by its coordinates. Versions are given on the command line.
name := "mean-of-all"
version := "1"
scalaVersion := sys.props("scala.version")
libraryDependencies ++= Seq(
  "io.sparkgap" % "sparkgap-spark-plugin" % sys.props("sparkgap.version"),
  "org.apache.spark" %% "spark-sql" % sys.props("spark.version") % Provided
)
