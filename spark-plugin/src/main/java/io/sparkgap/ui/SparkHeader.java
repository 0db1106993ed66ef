package io.sparkgap.ui;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Arrays;
import org.apache.spark.ui.UIUtils;
import scala.Function0;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.xml.Node;
import scala.xml.Unparsed;

/**
 * Spark's header and style around a page. The method that makes them has the request of one servlet
 * API or the other, and grows switches from release to release, which all may be off: so it is
 * found by its name.
 */
final class SparkHeader {
  private static final String NAME = "headerSparkPage";

  private SparkHeader() {}

  /**
   * @param request a {@code HttpServletRequest} of the servlet API that this Spark has
   */
  @SuppressWarnings("unchecked") // the whole of a page is an element, which is a Seq in any Scala
  static Seq<Node> around(Object request, SparkgapTab tab, String html) {
    Function0<Seq<Node>> content = () -> new Unparsed(html);
    Method method =
        Arrays.stream(UIUtils.class.getMethods())
            .filter(each -> each.getName().equals(NAME))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("this Spark's UIUtils has no " + NAME));
    Object[] arguments =
        Arrays.stream(method.getParameterTypes())
            .map(
                type ->
                    type == String.class
                        ? SparkgapTab.NAME
                        : type == Function0.class
                            ? content
                            : type == Option.class
                                ? Option.empty()
                                : type == boolean.class
                                    ? false
                                    : type.isInstance(tab) ? tab : request)
            .toArray();
    try {
      return (Seq<Node>) method.invoke(null, arguments);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(NAME + " of this Spark failed", e.getCause());
    }
  }
}
