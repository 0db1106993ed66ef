import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;

/**
 * Moves JavaCPP into a package of ours, so that an application may bring any other version of it:
 *
 * <pre>java RelocateJavaCpp.java FOLDER-OF-ITS-CLASSES FOLDER-TO-WRITE-TO</pre>
 *
 * <p>This is done before JavaCPP parses and generates anything: what it generates are C++ functions
 * whose names carry the package, so that moving the classes afterwards would leave them without
 * their functions. For the same reason its own strings have to change with the names of classes: its
 * parser and generator write some of them into what they generate, and its loader's are the names of
 * its system properties. All of both are entries of the classes' constant pools, and nothing else in
 * a class file holds text or an address into it.
 */
final class RelocateJavaCpp {
  private static final String FROM = "org.bytedeco.javacpp";
  private static final String TO = "io.sparkgap.javacpp";

  private RelocateJavaCpp() {}

  public static void main(String[] arguments) throws IOException {
    Path from = Path.of(arguments[0]).resolve(path(FROM));
    Path to = Path.of(arguments[1]).resolve(path(TO));
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        byte[] content = Files.readAllBytes(file);
        Path target = to.resolve(from.relativize(file).toString());
        byte[] relocated = file.toString().endsWith(".class") ? relocated(content) : content;
        // What has not changed keeps its time, or everything that depends on it were made again.
        if (!Files.exists(target) || !Arrays.equals(Files.readAllBytes(target), relocated)) {
          Files.createDirectories(target.getParent());
          Files.write(target, relocated);
        }
      }
    }
  }

  /** The class file with every text in its constant pool changed; see the JVM specification, 4.4. */
  private static byte[] relocated(byte[] classFile) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(classFile.length);
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(classFile));
    DataOutputStream out = new DataOutputStream(bytes);
    copy(in, out, 8); // magic and version
    int entries = in.readUnsignedShort();
    out.writeShort(entries);
    for (int entry = 1; entry < entries; entry++) {
      int tag = in.readUnsignedByte();
      out.writeByte(tag);
      switch (tag) {
        case 1 -> out.writeUTF(relocated(in.readUTF()));
        case 7, 8, 16, 19, 20 -> copy(in, out, 2);
        case 15 -> copy(in, out, 3);
        case 3, 4, 9, 10, 11, 12, 17, 18 -> copy(in, out, 4);
        case 5, 6 -> {
          copy(in, out, 8);
          entry++; // longs and doubles count twice
        }
        default -> throw new IOException("entry " + entry + " of a constant pool has tag " + tag);
      }
    }
    in.transferTo(out);
    return bytes.toByteArray();
  }

  private static String relocated(String text) {
    return text.replace(FROM, TO).replace(path(FROM), path(TO));
  }

  private static String path(String packageName) {
    return packageName.replace('.', '/');
  }

  private static void copy(DataInputStream in, DataOutputStream out, int bytes) throws IOException {
    out.write(in.readNBytes(bytes));
  }
}
