package io.sparkgap.ui;

import java.util.function.UnaryOperator;
import org.apache.spark.ui.WebUIPage;
import scala.collection.immutable.Seq;
import scala.xml.Node;

/**
 * A page of the tab. One class for all Sparks: each finds the {@code render} that it calls, and
 * never looks at the types of the others.
 */
abstract class SparkgapPage extends WebUIPage implements PageOfSpark35 {
  private final SparkgapTab tab;

  SparkgapPage(SparkgapTab tab, String prefix) {
    super(prefix);
    this.tab = tab;
  }

  /** What stands between Spark's header and its end. */
  abstract Html content(UnaryOperator<String> parameters);

  @Override
  public Seq<Node> render(jakarta.servlet.http.HttpServletRequest request) {
    return render(request, request::getParameter);
  }

  @Override
  public Seq<Node> render(javax.servlet.http.HttpServletRequest request) {
    return render(request, request::getParameter);
  }

  private Seq<Node> render(Object request, UnaryOperator<String> parameters) {
    return SparkHeader.around(request, tab, content(parameters).toString());
  }
}
