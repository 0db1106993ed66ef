package io.sparkgap.plugin;

import com.esotericsoftware.kryo.Kryo;
import org.apache.spark.serializer.KryoRegistrator;

/**
 * Registers what carries the results of {@code Sparkgap.run}. Needed only where {@code
 * spark.kryo.registrationRequired=true}; the classes of the results themselves are for the
 * application to register.
 */
public final class SparkgapKryoRegistrator implements KryoRegistrator {
  @Override
  public void registerClasses(Kryo kryo) {
    kryo.register(PeResult.class);
    kryo.register(PeResult[].class);
    kryo.register(Object[].class);
  }
}
