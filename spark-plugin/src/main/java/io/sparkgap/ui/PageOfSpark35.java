package io.sparkgap.ui;

import javax.servlet.http.HttpServletRequest;
import scala.collection.Seq;
import scala.xml.Node;

/**
 * What {@link SparkgapPage} overrides, with the types that it has in Spark 3.5: {@code javax}
 * instead of {@code jakarta}, and a {@code Seq} of Scala 2.12, to which javac adds the bridge.
 */
interface PageOfSpark35 {
  Seq<Node> render(HttpServletRequest request);
}
