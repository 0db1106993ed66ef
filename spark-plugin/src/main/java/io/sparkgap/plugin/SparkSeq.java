package io.sparkgap.plugin;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import scala.collection.Iterable;
import scala.collection.Iterator;

/**
 * Calls methods of Spark that give a {@code Seq}: that is one class in Spark for Scala 2.12 and
 * another for 2.13, so no call that was compiled for one would be found in the other.
 */
public final class SparkSeq {
  private SparkSeq() {}

  /** The elements of what the method without arguments gives. */
  public static <T> List<T> of(Object owner, String method, Class<T> element) {
    return of(owner, method, element, new Class<?>[0]);
  }

  /**
   * The elements of what the method gives.
   *
   * @throws IllegalStateException if this Spark has no such method
   */
  public static <T> List<T> of(
      Object owner, String method, Class<T> element, Class<?>[] types, Object... arguments) {
    List<T> elements = new ArrayList<>();
    try {
      Method found = owner.getClass().getMethod(method, types);
      Iterator<?> all = ((Iterable<?>) found.invoke(owner, arguments)).iterator();
      while (all.hasNext()) {
        elements.add(element.cast(all.next()));
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "Sparkgap does not know this Spark: "
              + owner.getClass().getName()
              + "."
              + method
              + " cannot be called",
          e);
    }
    return elements;
  }
}
