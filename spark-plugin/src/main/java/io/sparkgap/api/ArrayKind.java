package io.sparkgap.api;

import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;

/**
 * One kind of Java array and the buffer view that moves it, so that what is done with arrays is
 * written once. The moves are the JDK's absolute bulk moves: no allocation, and no JNI critical
 * section that would keep the garbage collector waiting.
 *
 * @param <A> the array
 * @param <V> the view of native memory that has its elements
 */
abstract class ArrayKind<A, V> {
  static final ArrayKind<byte[], ByteBuffer> BYTES =
      new ArrayKind<>("byte", 0, DataType.INT8) {
        @Override
        ByteBuffer view(ByteBuffer memory) {
          return memory;
        }

        @Override
        int length(byte[] array) {
          return array.length;
        }

        @Override
        byte[] make(int length) {
          return new byte[length];
        }

        @Override
        void toMemory(byte[] array, int from, int count, ByteBuffer view, int index) {
          view.put(index, array, from, count);
        }

        @Override
        void toArray(ByteBuffer view, int index, byte[] array, int from, int count) {
          view.get(index, array, from, count);
        }
      };

  static final ArrayKind<short[], ShortBuffer> SHORTS =
      new ArrayKind<>("short", 1, DataType.FLOAT16) {
        @Override
        ShortBuffer view(ByteBuffer memory) {
          return memory.asShortBuffer();
        }

        @Override
        int length(short[] array) {
          return array.length;
        }

        @Override
        short[] make(int length) {
          return new short[length];
        }

        @Override
        void toMemory(short[] array, int from, int count, ShortBuffer view, int index) {
          view.put(index, array, from, count);
        }

        @Override
        void toArray(ShortBuffer view, int index, short[] array, int from, int count) {
          view.get(index, array, from, count);
        }
      };

  static final ArrayKind<int[], IntBuffer> INTS =
      new ArrayKind<>("int", 2, DataType.INT32) {
        @Override
        IntBuffer view(ByteBuffer memory) {
          return memory.asIntBuffer();
        }

        @Override
        int length(int[] array) {
          return array.length;
        }

        @Override
        int[] make(int length) {
          return new int[length];
        }

        @Override
        void toMemory(int[] array, int from, int count, IntBuffer view, int index) {
          view.put(index, array, from, count);
        }

        @Override
        void toArray(IntBuffer view, int index, int[] array, int from, int count) {
          view.get(index, array, from, count);
        }
      };

  static final ArrayKind<long[], LongBuffer> LONGS =
      new ArrayKind<>("long", 3, DataType.INT64) {
        @Override
        LongBuffer view(ByteBuffer memory) {
          return memory.asLongBuffer();
        }

        @Override
        int length(long[] array) {
          return array.length;
        }

        @Override
        long[] make(int length) {
          return new long[length];
        }

        @Override
        void toMemory(long[] array, int from, int count, LongBuffer view, int index) {
          view.put(index, array, from, count);
        }

        @Override
        void toArray(LongBuffer view, int index, long[] array, int from, int count) {
          view.get(index, array, from, count);
        }
      };

  static final ArrayKind<float[], FloatBuffer> FLOATS =
      new ArrayKind<>("float", 4, DataType.FLOAT32) {
        @Override
        FloatBuffer view(ByteBuffer memory) {
          return memory.asFloatBuffer();
        }

        @Override
        int length(float[] array) {
          return array.length;
        }

        @Override
        float[] make(int length) {
          return new float[length];
        }

        @Override
        void toMemory(float[] array, int from, int count, FloatBuffer view, int index) {
          view.put(index, array, from, count);
        }

        @Override
        void toArray(FloatBuffer view, int index, float[] array, int from, int count) {
          view.get(index, array, from, count);
        }
      };

  static final ArrayKind<double[], DoubleBuffer> DOUBLES =
      new ArrayKind<>("double", 5, DataType.FLOAT64) {
        @Override
        DoubleBuffer view(ByteBuffer memory) {
          return memory.asDoubleBuffer();
        }

        @Override
        int length(double[] array) {
          return array.length;
        }

        @Override
        double[] make(int length) {
          return new double[length];
        }

        @Override
        void toMemory(double[] array, int from, int count, DoubleBuffer view, int index) {
          view.put(index, array, from, count);
        }

        @Override
        void toArray(DoubleBuffer view, int index, double[] array, int from, int count) {
          view.get(index, array, from, count);
        }
      };

  static final int KINDS = 6;

  final String name;
  final int index;

  /** What collectives on such an array take its elements for. */
  final DataType type;

  ArrayKind(String name, int index, DataType type) {
    this.name = name;
    this.index = index;
    this.type = type;
  }

  /** A view of all of {@code memory}, which is in the machine's byte order. */
  abstract V view(ByteBuffer memory);

  abstract int length(A array);

  abstract A make(int length);

  abstract void toMemory(A array, int from, int count, V view, int index);

  abstract void toArray(V view, int index, A array, int from, int count);
}
