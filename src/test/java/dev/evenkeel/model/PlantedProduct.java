package dev.evenkeel.model;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** Classes of the product with planted faults: they go before its own on a class path. */
final class PlantedProduct {
  static final Path SOURCES = Path.of("src", "main", "java", "dev", "evenkeel");

  private PlantedProduct() {}

  /** The class path of the test that runs. */
  static String classPath() {
    return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
  }

  /**
   * The changed sources, by file.
   *
   * @throws AssertionError if the product has not exactly one place for a fault
   */
  static Map<Path, String> sources(Collection<PlantedFault> faults) throws IOException {
    Map<Path, String> sources = new LinkedHashMap<>();
    for (PlantedFault fault : faults) {
      Path file = SOURCES.resolve(fault.file);
      String source = sources.containsKey(file) ? sources.get(file) : Files.readString(file);
      int at = source.indexOf(fault.product);
      if (at < 0 || source.indexOf(fault.product, at + 1) >= 0) {
        throw new AssertionError(
            "adapt the planted fault %s: %s has its text %s"
                .formatted(fault, file, at < 0 ? "not" : "more than once"));
      }
      sources.put(
          file,
          source.substring(0, at) + fault.planted + source.substring(at + fault.product.length()));
    }
    return sources;
  }

  /**
   * Compiles the sources with these faults.
   *
   * @param classes where to
   * @throws AssertionError if they do not compile: with what is wrong
   */
  static void compile(Collection<PlantedFault> faults, Path classes) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> said = new DiagnosticCollector<>();
    List<JavaFileObject> sources = new ArrayList<>();
    sources(faults).forEach((file, text) -> sources.add(new Source(file, text)));
    try (StandardJavaFileManager files = compiler.getStandardFileManager(said, null, null)) {
      files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(classes));
      List<String> options =
          List.of("-proc:none", "-nowarn", "-parameters", "-classpath", classPath());
      if (!compiler.getTask(null, files, said, options, null, sources).call()) {
        throw new AssertionError(
            said.getDiagnostics().stream()
                .filter(each -> each.getKind() == Diagnostic.Kind.ERROR)
                .map(Object::toString)
                .collect(
                    Collectors.joining("\n", "adapt the planted faults " + faults + "\n", "")));
      }
    }
  }

  /** A source in memory. */
  private static final class Source extends javax.tools.SimpleJavaFileObject {
    private final String text;

    Source(Path file, String text) {
      super(file.toUri(), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreErrors) {
      return text;
    }
  }
}
