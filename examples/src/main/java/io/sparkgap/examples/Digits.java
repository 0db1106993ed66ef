package io.sparkgap.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPInputStream;

/**
 * The 1,797 images of the UCI optical digits data set, which travels in this jar; {@code
 * digits/README.md} beside it names source and licence.
 *
 * <p>Four images in five are for training, the fifth is held out to test on. The split is random
 * but always the same, so every PE may read the file for itself and see what the others see.
 */
public final class Digits {
  /** Pixels of an image: 8 rows of 8. */
  public static final int PIXELS = 64;

  /** Digits there are to tell apart. */
  public static final int CLASSES = 10;

  private static final String FILE = "digits/digits.csv.gz";
  private static final float BLACK = 16;
  private static final long SPLIT_SEED = 1998;

  private Digits() {}

  /** The 1,438 images to train on. */
  public static List<Digit> training() {
    List<Digit> all = shuffled();
    return List.copyOf(all.subList(heldOut(all), all.size()));
  }

  /** The 359 images that training never sees. */
  public static List<Digit> test() {
    List<Digit> all = shuffled();
    return List.copyOf(all.subList(0, heldOut(all)));
  }

  private static int heldOut(List<Digit> all) {
    return all.size() / 5;
  }

  private static List<Digit> shuffled() {
    List<Digit> all = read();
    Collections.shuffle(all, new Random(SPLIT_SEED));
    return all;
  }

  private static List<Digit> read() {
    List<Digit> digits = new ArrayList<>();
    try (InputStream file = Digits.class.getResourceAsStream(FILE);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(new GZIPInputStream(file), UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        digits.add(parse(line));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + FILE + " from the examples' jar", e);
    }
    return digits;
  }

  private static Digit parse(String line) {
    String[] fields = line.split(",", -1);
    float[] pixels = new float[PIXELS];
    for (int i = 0; i < PIXELS; i++) {
      pixels[i] = Integer.parseInt(fields[i]) / BLACK;
    }
    return new Digit(pixels, Integer.parseInt(fields[PIXELS]));
  }
}
