package io.sparkgap.plugin;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoSerializable;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.io.Serializable;

/**
 * What one PE returned, on its way through the shuffle. Needs no other class of ours or the JDK's
 * to be registered with Kryo.
 */
public final class PeResult implements Serializable, KryoSerializable {
  private static final long serialVersionUID = 1L;

  private int index;

  // Whether the rows can be written is the business of the application's serializer.
  @SuppressWarnings("serial")
  private Object[] rows;

  /** For Kryo. */
  @SuppressWarnings("unused")
  private PeResult() {}

  /**
   * @param index the place of this PE's rows among those of all
   */
  public PeResult(int index, Object[] rows) {
    this.index = index;
    this.rows = rows;
  }

  public int index() {
    return index;
  }

  public Object[] rows() {
    return rows;
  }

  @Override
  public void write(Kryo kryo, Output output) {
    output.writeInt(index);
    output.writeInt(rows.length);
    for (Object row : rows) {
      kryo.writeClassAndObject(output, row);
    }
  }

  @Override
  public void read(Kryo kryo, Input input) {
    index = input.readInt();
    rows = new Object[input.readInt()];
    for (int i = 0; i < rows.length; i++) {
      rows[i] = kryo.readClassAndObject(input);
    }
  }
}
