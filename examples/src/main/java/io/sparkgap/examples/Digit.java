package io.sparkgap.examples;

import java.io.Serializable;

/**
 * One image of a handwritten digit.
 *
 * @param pixels {@link Digits#PIXELS} values from 0 (white) to 1 (black), row by row
 * @param label which digit it is, 0 to 9
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record Digit(float[] pixels, int label) implements Serializable {}
