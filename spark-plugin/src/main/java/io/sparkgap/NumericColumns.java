package io.sparkgap;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;

/** Some columns of Spark's rows as numbers: one row at a time in an array that is used again. */
final class NumericColumns {
  /**
   * Spark ML may not be there; what its vectors look like in a row is part of every saved model.
   */
  private static final List<String> VECTORS =
      List.of("org.apache.spark.ml.linalg.VectorUDT", "org.apache.spark.mllib.linalg.VectorUDT");

  private static final int VECTOR_FIELDS = 4;
  private static final byte DENSE = 1;

  /** Reads one column of a row. */
  private abstract static class Column {
    final String name;
    final int ordinal;

    Column(String name, int ordinal) {
      this.name = name;
      this.ordinal = ordinal;
    }

    abstract int width(InternalRow row);

    abstract void read(InternalRow row, double[] to, int at);
  }

  /** Reads one number, of a row or of an array. */
  @FunctionalInterface
  private interface Getter {
    double get(SpecializedGetters from, int ordinal);
  }

  private final Column[] columns;

  /** Of each column, once a row has been seen. */
  private final int[] widths;

  private double[] values = new double[0];
  private long seen;

  NumericColumns(StructType schema, String... names) {
    if (names.length == 0) {
      throw new IllegalArgumentException("no column is named; there are " + all(schema));
    }
    columns = new Column[names.length];
    widths = new int[names.length];
    Arrays.fill(widths, -1);
    for (int i = 0; i < names.length; i++) {
      columns[i] = column(schema, names[i]);
    }
  }

  /** Reads a row and returns how many {@link #values} it has. */
  int next(InternalRow row) {
    int width = 0;
    for (int i = 0; i < columns.length; i++) {
      Column column = columns[i];
      if (row.isNullAt(column.ordinal)) {
        throw wrong(column.name, "is null");
      }
      int own = column.width(row);
      if (own != widths[i]) {
        widen(i, own);
      }
      width += own;
    }
    int at = 0;
    for (int i = 0; i < columns.length; i++) {
      columns[i].read(row, values, at);
      at += widths[i];
    }
    seen++;
    return width;
  }

  double[] values() {
    return values;
  }

  private void widen(int column, int width) {
    if (widths[column] >= 0) {
      throw wrong(
          columns[column].name,
          "has " + width + " elements, but in the rows before " + widths[column]);
    }
    widths[column] = width;
    values = new double[Math.addExact(values.length, width)];
  }

  private IllegalArgumentException wrong(String name, String what) {
    return new IllegalArgumentException(
        "Column \"%s\" %s in row %s of this PE's partition. Fill such rows or filter them out before."
            .formatted(name, what, seen));
  }

  private Column column(StructType schema, String name) {
    int ordinal = Arrays.asList(schema.fieldNames()).indexOf(name);
    if (ordinal < 0) {
      throw new IllegalArgumentException(
          "there is no column \"" + name + "\"; there are " + all(schema));
    }
    StructField field = schema.fields()[ordinal];
    Getter scalar = getter(field.dataType());
    if (scalar != null) {
      return new Scalar(name, ordinal, scalar);
    }
    Getter element = field.dataType() instanceof ArrayType a ? getter(a.elementType()) : null;
    if (element != null) {
      return new Array(name, ordinal, element);
    }
    if (field.dataType() instanceof UserDefinedType<?> type
        && VECTORS.contains(type.getClass().getName())) {
      return new Vector(name, ordinal);
    }
    throw new IllegalArgumentException(
        "Column \"%s\" is of type %s, and only numbers, arrays of numbers and vectors can be read so."
            .formatted(name, field.dataType().simpleString()));
  }

  private static String all(StructType schema) {
    return String.join(", ", schema.fieldNames());
  }

  /** How to read such a number; null for any other type. */
  private static Getter getter(DataType type) {
    if (type.equals(DataTypes.DoubleType)) {
      return SpecializedGetters::getDouble;
    } else if (type.equals(DataTypes.FloatType)) {
      return SpecializedGetters::getFloat;
    } else if (type.equals(DataTypes.IntegerType)) {
      return SpecializedGetters::getInt;
    } else if (type.equals(DataTypes.LongType)) {
      return SpecializedGetters::getLong;
    } else if (type.equals(DataTypes.ShortType)) {
      return SpecializedGetters::getShort;
    } else if (type.equals(DataTypes.ByteType)) {
      return SpecializedGetters::getByte;
    } else if (type.equals(DataTypes.BooleanType)) {
      return (from, ordinal) -> from.getBoolean(ordinal) ? 1 : 0;
    } else if (type instanceof DecimalType decimal) {
      int precision = decimal.precision();
      int scale = decimal.scale();
      return (from, ordinal) -> from.getDecimal(ordinal, precision, scale).toDouble();
    }
    return null;
  }

  private static final class Scalar extends Column {
    private final Getter getter;

    Scalar(String name, int ordinal, Getter getter) {
      super(name, ordinal);
      this.getter = getter;
    }

    @Override
    int width(InternalRow row) {
      return 1;
    }

    @Override
    void read(InternalRow row, double[] to, int at) {
      to[at] = getter.get(row, ordinal);
    }
  }

  private final class Array extends Column {
    private final Getter getter;

    Array(String name, int ordinal, Getter getter) {
      super(name, ordinal);
      this.getter = getter;
    }

    @Override
    int width(InternalRow row) {
      return row.getArray(ordinal).numElements();
    }

    @Override
    void read(InternalRow row, double[] to, int at) {
      ArrayData array = row.getArray(ordinal);
      for (int i = 0; i < array.numElements(); i++) {
        if (array.isNullAt(i)) {
          throw wrong(name, "has a null at " + i);
        }
        to[at + i] = getter.get(array, i);
      }
    }
  }

  /** In a row: whether it is dense, its size, indices and values. */
  private static final class Vector extends Column {
    Vector(String name, int ordinal) {
      super(name, ordinal);
    }

    @Override
    int width(InternalRow row) {
      InternalRow vector = row.getStruct(ordinal, VECTOR_FIELDS);
      return vector.getByte(0) == DENSE ? vector.getArray(3).numElements() : vector.getInt(1);
    }

    @Override
    void read(InternalRow row, double[] to, int at) {
      InternalRow vector = row.getStruct(ordinal, VECTOR_FIELDS);
      ArrayData elements = vector.getArray(3);
      if (vector.getByte(0) == DENSE) {
        for (int i = 0; i < elements.numElements(); i++) {
          to[at + i] = elements.getDouble(i);
        }
        return;
      }
      Arrays.fill(to, at, at + vector.getInt(1), 0);
      ArrayData indices = vector.getArray(2);
      for (int i = 0; i < elements.numElements(); i++) {
        to[at + indices.getInt(i)] = elements.getDouble(i);
      }
    }
  }
}
