package io.sparkgap;

import java.io.Serializable;
import java.lang.invoke.LambdaConversionException;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandleInfo;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.invoke.SerializedLambda;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkContext;
import scala.Function1;
import scala.Function2;

/**
 * Functions that were written in Scala, cleaned as Spark cleans those that its own Scala API takes:
 * what a line of a shell or a notebook holds beside what the function uses stays at the driver.
 *
 * <p>Spark's cleaner takes functions of Scala's types only. One of ours, which the Scala compiler
 * makes of a function where a {@link PeFunction} or the like is asked for, is the same code behind
 * another interface: it is put behind Scala's, cleaned, and put back behind its own.
 */
final class ScalaFunctions {
  /** What the Scala compiler calls the code of a function. */
  private static final String CODE = "$anonfun$";

  private ScalaFunctions() {}

  /**
   * The function with what it needs, and no more, or the function itself if it is not Scala's.
   * Throws Spark's exception, which Spark does not declare, if that cannot be sent to executors.
   */
  static <F extends Serializable> F clean(SparkContext sc, F function) {
    SerializedLambda lambda = describe(function);
    if (lambda == null
        || lambda.getImplMethodKind() != MethodHandleInfo.REF_invokeStatic
        || !lambda.getImplMethodName().contains(CODE)) {
      return function;
    }
    Code code;
    Serializable asScala;
    try {
      code = new Code(lambda, function.getClass().getClassLoader());
      asScala = code.behindScalas(captured(lambda));
    } catch (ReflectiveOperationException | LambdaConversionException e) {
      // Not made as we know it: then it is as good as a function that is not Scala's.
      return function;
    }
    SerializedLambda cleaned = describe(sc.clean(asScala, true));
    Object[] before = captured(lambda);
    Object[] after = captured(cleaned);
    if (areSame(before, after)) {
      return function;
    }
    try {
      @SuppressWarnings("unchecked") // of the same interface
      F result = (F) code.behindItsOwn(after);
      return result;
    } catch (ReflectiveOperationException | LambdaConversionException e) {
      throw new IllegalStateException("cannot rebuild " + lambda, e);
    }
  }

  /** What a lambda is made of; null for any other object. */
  private static SerializedLambda describe(Object function) {
    if (!function.getClass().isSynthetic()) {
      return null;
    }
    try {
      Method replacement = function.getClass().getDeclaredMethod("writeReplace");
      replacement.setAccessible(true);
      return replacement.invoke(function) instanceof SerializedLambda lambda ? lambda : null;
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  private static Object[] captured(SerializedLambda lambda) {
    Object[] values = new Object[lambda.getCapturedArgCount()];
    for (int i = 0; i < values.length; i++) {
      values[i] = lambda.getCapturedArg(i);
    }
    return values;
  }

  private static boolean areSame(Object[] before, Object[] after) {
    for (int i = 0; i < before.length; i++) {
      if (before[i] != after[i]) {
        return false;
      }
    }
    return true;
  }

  /** The code of a function, and how to put it behind an interface. */
  private static final class Code {
    private final SerializedLambda lambda;
    private final Lookup lookup;
    private final MethodHandle method;
    private final MethodType instantiated;
    private final MethodType signature;

    Code(SerializedLambda lambda, ClassLoader loader) throws ReflectiveOperationException {
      this.lambda = lambda;
      Class<?> owner = Class.forName(lambda.getCapturingClass().replace('/', '.'), false, loader);
      lookup = asIfWrittenIn(owner);
      method =
          lookup.findStatic(
              Class.forName(lambda.getImplClass().replace('/', '.'), false, loader),
              lambda.getImplMethodName(),
              MethodType.fromMethodDescriptorString(lambda.getImplMethodSignature(), loader));
      instantiated =
          MethodType.fromMethodDescriptorString(lambda.getInstantiatedMethodType(), loader);
      signature =
          MethodType.fromMethodDescriptorString(
              lambda.getFunctionalInterfaceMethodSignature(), loader);
    }

    /**
     * Scala 2.12 has a type of its own for it, without which Spark takes nothing for a function.
     */
    private static Class<?> serializable() {
      try {
        return Class.forName("scala.Serializable");
      } catch (ClassNotFoundException e) {
        return Serializable.class;
      }
    }

    /**
     * Functions are made only for who is in the same module, and each class loader has its own. So
     * this takes what Spark's cleaner takes on newer Java versions, too, where Spark starts Java:
     * its launcher opens {@code java.lang.invoke}.
     */
    private static Lookup asIfWrittenIn(Class<?> owner) throws ReflectiveOperationException {
      Field ofJava = Lookup.class.getDeclaredField("IMPL_LOOKUP");
      if (!ofJava.trySetAccessible()) {
        throw new IllegalAccessException("java.lang.invoke is not open");
      }
      return ((Lookup) ofJava.get(null)).in(owner);
    }

    Serializable behindScalas(Object[] captured)
        throws ReflectiveOperationException, LambdaConversionException {
      int parameters = signature.parameterCount();
      Class<?> type = parameters == 1 ? Function1.class : Function2.class;
      return behind(type, "apply", MethodType.genericMethodType(parameters), captured);
    }

    Serializable behindItsOwn(Object[] captured)
        throws ReflectiveOperationException, LambdaConversionException {
      Class<?> type =
          Class.forName(
              lambda.getFunctionalInterfaceClass().replace('/', '.'),
              false,
              lookup.lookupClass().getClassLoader());
      return behind(type, lambda.getFunctionalInterfaceMethodName(), signature, captured);
    }

    private Serializable behind(Class<?> type, String name, MethodType wanted, Object[] captured)
        throws ReflectiveOperationException, LambdaConversionException {
      List<Class<?>> values =
          new ArrayList<>(method.type().parameterList().subList(0, captured.length));
      MethodHandle factory =
          LambdaMetafactory.altMetafactory(
                  lookup,
                  name,
                  MethodType.methodType(type, values),
                  wanted,
                  method,
                  instantiated,
                  LambdaMetafactory.FLAG_SERIALIZABLE | LambdaMetafactory.FLAG_MARKERS,
                  1,
                  serializable())
              .getTarget();
      try {
        return (Serializable) factory.invokeWithArguments(captured);
      } catch (Throwable e) {
        throw new ReflectiveOperationException("cannot make a function of " + lambda, e);
      }
    }
  }
}
