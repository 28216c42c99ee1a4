package dev.idgen;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The golden vectors that the tests of all languages read; tests/vectors/README.md describes their format. */
public final class Vectors {
  /** Where tests/, docs/ and the READMEs are. */
  static final Path REPOSITORY = Path.of(System.getProperty("idgen.test.repository")).toAbsolutePath().normalize();

  private Vectors() {}

  /** Where a file of the vectors is. */
  public static Path file(String name) {
    return REPOSITORY.resolve("tests/vectors").resolve(name);
  }

  /** The rows of a file, each with as many columns as the file's header names. Never empty. */
  public static List<String[]> rows(String name) {
    Path path = file(name);
    try {
      var lines = Files.readAllLines(path);
      int columns = 0;
      for (String line : lines) {
        if (line.startsWith("#")) columns = line.split("\t", -1).length;
      }
      int wanted = columns;
      var rows = lines.stream().filter(line -> !line.startsWith("#")).map(line -> line.split("\t", -1)).toList();
      for (String[] row : rows) {
        if (row.length != wanted) {
          throw new IllegalStateException(path + ": " + Arrays.toString(row) + " does not have " + wanted + " columns");
        }
      }
      if (rows.isEmpty()) throw new IllegalStateException(path + " has no rows");
      return rows;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A number of the vectors: {@code -} is a field that is not there. */
  static long unsigned(String text) {
    return text.equals("-") ? 0 : Long.parseUnsignedLong(text);
  }

  /** A builder with the properties that a row gives; the store {@code HOST} is one of the program's own. */
  static Generator.Builder builder(String properties) {
    var builder = Generator.builder();
    if (properties.isEmpty()) return builder;
    for (String property : properties.split("; ")) {
      String[] parts = property.split("=", 2);
      Store own = (namespace, tag, count) -> 1;
      builder = parts[1].equals("HOST") ? builder.store(own) : builder.set(parts[0], parts[1]);
    }
    return builder;
  }
}
