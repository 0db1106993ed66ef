package io.sparkgap.launcher.follow;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What Ctrl-C means while an application is followed. At a terminal the first asks and the second,
 * within ten seconds, means it; a signal that nobody can have typed is meant at once, as is the end
 * of the terminal or a {@code kill}.
 */
public final class Interrupts implements AutoCloseable {
  private static final Duration SECOND_THOUGHTS = Duration.ofSeconds(10);
  private static final String[] SIGNALS = {"INT", "TERM", "HUP"};

  private final boolean interactive;
  private final Runnable ask;
  private final Object[] before = new Object[SIGNALS.length];
  private final AtomicLong askedNanos = new AtomicLong();
  private volatile boolean meant;

  /**
   * @param interactive whether there is somebody to ask
   * @param ask says that another Ctrl-C ends the application
   */
  private Interrupts(boolean interactive, Runnable ask) {
    this.interactive = interactive;
    this.ask = ask;
  }

  /** From now on, until closed. */
  public static Interrupts listen(boolean interactive, Runnable ask) {
    Interrupts interrupts = new Interrupts(interactive, ask);
    for (int i = 0; i < SIGNALS.length; i++) {
      interrupts.before[i] = handle(SIGNALS[i], interrupts.handler());
    }
    return interrupts;
  }

  /** Whether the application is to end. */
  public boolean isMeant() {
    return meant;
  }

  @Override
  public void close() {
    for (int i = 0; i < SIGNALS.length; i++) {
      if (before[i] != null) {
        handle(SIGNALS[i], before[i]);
      }
    }
  }

  void take(String signal) {
    long now = System.nanoTime();
    long asked = askedNanos.getAndSet(now);
    boolean again = asked != 0 && now - asked < SECOND_THOUGHTS.toNanos();
    if (!interactive || !signal.equals("INT") || again) {
      meant = true;
    } else {
      ask.run();
    }
  }

  private Object handler() {
    InvocationHandler onSignal =
        (proxy, method, arguments) -> {
          switch (method.getName()) {
            case "handle" -> take((String) nameOf(arguments[0]));
            case "hashCode" -> {
              return System.identityHashCode(proxy);
            }
            case "equals" -> {
              return proxy == arguments[0];
            }
            default -> {
              return "sparkgap";
            }
          }
          return null;
        };
    try {
      Class<?> type = Class.forName("sun.misc.SignalHandler");
      return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, onSignal);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }

  private static Object nameOf(Object signal) throws ReflectiveOperationException {
    return signal.getClass().getMethod("getName").invoke(signal);
  }

  /**
   * There is no public way to hear of a signal without ending for it. Where a JVM has not got this
   * one, the process ends at once, and its shutdown hook ends the application.
   *
   * @return the handler before; null if this one could not be set
   */
  private static Object handle(String signal, Object handler) {
    try {
      Class<?> signalType = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Object named = signalType.getConstructor(String.class).newInstance(signal);
      return signalType.getMethod("handle", signalType, handlerType).invoke(null, named, handler);
    } catch (ReflectiveOperationException e) {
      return null;
    }
  }
}
