package dev.idgen;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;

/** javac, as the tests use it: warnings are errors. */
final class Compiler {
  private Compiler() {}

  static void compile(Path output, List<String> options, Path... sources) throws IOException {
    Files.createDirectories(output);
    var all = new ArrayList<>(List.of("-d", output.toString(), "--release", "17", "-Xlint:all", "-Werror"));
    all.addAll(options);
    var compiler = ToolProvider.getSystemJavaCompiler();
    var messages = new StringWriter();
    try (var files = compiler.getStandardFileManager(null, null, null)) {
      boolean well = compiler.getTask(messages, files, null, all, null, files.getJavaFileObjects(sources)).call();
      if (!well) throw new AssertionError(List.of(sources) + " does not compile:\n" + messages);
    }
  }
}
