package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Configurations, and the calls that take one, have the same answers as in the other languages. */
class CallsTest {
  private static final String VECTORS = Vectors.REPOSITORY.resolve("tests/vectors").toString();

  @TempDir Path folder;

  private String filled(String text) {
    return text.replace("FOLDER", folder.toString()).replace("VECTORS", VECTORS);
  }

  private static String shown(SegmentInfo info) {
    assertTrue(info.updated().isAfter(Instant.now().minus(Duration.ofHours(1))), info::toString);
    boolean unused = info.rate() == 0 && info.holder().isEmpty();
    return info.maxId() + " " + info.step() + (unused ? " unused" : "");
  }

  private String answer(String[] row) throws IOException {
    var builder = Vectors.builder(filled(row[1]));
    var admin = builder.admin();
    String argument = filled(row[2]);
    String[] words = argument.split(" ");
    switch (row[0]) {
      case "remove" -> Files.delete(Path.of(argument));
      case "spoil" -> Files.writeString(Path.of(argument), "this is no database\n".repeat(1000));
      case "open" -> {
        try (var ids = builder.build()) {
          long[] drawn = ids.nextBatch(argument.isEmpty() ? 0 : Integer.parseInt(argument));
          return LongStream.of(drawn).mapToObj(Long::toString).collect(Collectors.joining(" "));
        }
      }
      case "open_table" -> Generator.open(Path.of(words[0]), words[1]).close();
      case "names" -> {
        return String.join(", ", Idgen.names(Path.of(argument)));
      }
      case "create_store" -> admin.createStore();
      case "create" -> admin.createSegment(argument.isEmpty() ? 0 : Long.parseUnsignedLong(argument));
      case "show" -> {
        return shown(admin.showSegment());
      }
      case "advance" -> {
        return shown(admin.advanceSegment(Long.parseLong(argument)));
      }
      case "set_step" -> {
        return shown(admin.setSegmentStep(Long.parseLong(argument)));
      }
      case "list" -> {
        var rows = admin.listSegments();
        for (var each : rows) {
          var info =
              new SegmentInfo(each.maxId(), each.grants(), each.updated(), each.step(), each.rate(), each.holder());
          assertEquals(builder.copy().namespace(each.namespace()).tag(each.tag()).admin().showSegment(), info);
        }
        return rows.stream()
            .map(each -> each.namespace() + " " + each.tag() + " " + each.maxId())
            .collect(Collectors.joining(", "));
      }
      case "statements" -> {
        String text = admin.segmentStatements();
        return text.isEmpty() ? "" : text.substring(text.lastIndexOf("INSERT"), text.lastIndexOf(", "));
      }
      case "max_of" -> admin.segmentMaxOf(words[0], words[1]);
      default -> throw new IllegalStateException(row[0]);
    }
    return "";
  }

  @Test
  void everyCallHasTheSameAnswer() throws IOException {
    for (String[] row : Vectors.rows("calls.tsv")) {
      String found;
      try {
        found = "OK " + answer(row);
      } catch (IdgenException e) {
        found = e.statusName() + " " + e.getMessage();
      }
      found = found.replace(folder.toString(), "FOLDER").replace(VECTORS, "VECTORS");
      assertEquals(row[3] + " " + row[4], found, () -> String.join(" | ", row));
    }
  }
}
