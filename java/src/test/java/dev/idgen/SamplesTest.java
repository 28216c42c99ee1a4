package dev.idgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compiles and runs every Java sample of the documentation as it stands there. A sample is the body of a main method:
 * its imports are moved to the top, and nothing else is added but {@code import dev.idgen.*}. It runs in a folder of
 * its own that has the document's first {@code toml} sample as idgen.toml. Where a sample is followed by a block marked
 * {@code text}, it must print exactly that.
 */
class SamplesTest {
  private static final List<String> DOCUMENTS = List.of("java/README.md", "docs/java.md");

  /** A fenced block, and whether a text block follows it with nothing but white space between. */
  private static final Pattern BLOCK =
      Pattern.compile("^```(\\w+)\\n(.*?)^```$(?:\\s*^```text\\n(.*?)^```$)?", Pattern.DOTALL | Pattern.MULTILINE);

  @TempDir Path folder;

  private record Sample(String name, String code, String toml, String output) {}

  @TestFactory
  Stream<DynamicTest> everySampleOfTheDocumentationRuns() throws IOException {
    var samples = new ArrayList<Sample>();
    for (String document : DOCUMENTS) {
      var found = samplesOf(document);
      assertFalse(found.isEmpty(), document + " has no Java sample");
      samples.addAll(found);
    }
    return samples.stream().map(sample -> DynamicTest.dynamicTest(sample.name(), () -> run(sample)));
  }

  private static List<Sample> samplesOf(String document) throws IOException {
    var samples = new ArrayList<Sample>();
    String text = Files.readString(Vectors.REPOSITORY.resolve(document));
    String toml = "";
    var block = BLOCK.matcher(text);
    while (block.find()) {
      if (block.group(1).equals("toml") && toml.isEmpty()) toml = block.group(2);
      if (!block.group(1).equals("java")) continue;
      long line = text.substring(0, block.start()).lines().count() + 1;
      samples.add(new Sample(document + " line " + line, block.group(2), toml, block.group(3)));
    }
    return samples;
  }

  private void run(Sample sample) throws Exception {
    Path place = folder.resolve(sample.name().replaceAll("\\W+", "-"));
    Files.createDirectories(place);
    Files.writeString(place.resolve("idgen.toml"), sample.toml());
    Path source = Files.writeString(place.resolve("Sample.java"), program(sample.code()));
    Compiler.compile(place, List.of("-cp", ChildJvm.CLASSES.toString()), source);
    var run = ChildJvm.run(place, "-D" + NativeLoader.PATH_PROPERTY + "=" + ChildJvm.LIBRARY, "-cp",
        ChildJvm.CLASSES + File.pathSeparator + place, "Sample");
    assertEquals(0, run.status(), run::out);
    if (sample.output() != null) assertEquals(sample.output(), run.out());
  }

  private static String program(String code) {
    var imports = new StringBuilder("import dev.idgen.*;\n");
    var body = new StringBuilder();
    for (String line : code.lines().toList()) (line.startsWith("import ") ? imports : body).append(line).append('\n');
    return imports + "public class Sample {\npublic static void main(String[] arguments) throws Exception {\n" + body
        + "}\n}\n";
  }
}
