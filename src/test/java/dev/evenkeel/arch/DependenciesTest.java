package dev.evenkeel.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The build names the parts of Vert.x and Hazelcast that the code uses, and no others. */
class DependenciesTest {
  private static final Path MAIN = Path.of("src/main/java");
  private static final Path TESTS = Path.of("src/test/java");

  private static final Pattern DEPENDENCY =
      Pattern.compile(
          "<dependency>\\s*<groupId>(io\\.vertx|com\\.hazelcast)</groupId>\\s*"
              + "<artifactId>([\\w-]+)</artifactId>((?:(?!</dependency>)[\\s\\S])*)</dependency>");

  private static final Pattern IMPORT =
      Pattern.compile("(?m)^import (?:static )?((?:io\\.vertx|com\\.hazelcast)\\.[\\w.]+);");

  /** No source names it, but the compiler needs it: see the pom. */
  private static final Set<String> FOR_THE_COMPILER = Set.of("vertx-codegen-api");

  /** Artifact → whether it is for tests only. */
  private static Map<String, Boolean> declared() throws IOException {
    String pom = Files.readString(Path.of("pom.xml"));
    String own = pom.substring(pom.indexOf("</dependencyManagement>"), pom.indexOf("<profiles>"));
    return DEPENDENCY
        .matcher(own)
        .results()
        .collect(
            Collectors.toMap(
                found -> found.group(2), found -> found.group(3).contains("<scope>test</scope>")));
  }

  /** The classes of Vert.x and Hazelcast that sources import. */
  private static Set<String> imported(Path sources) throws IOException {
    Set<String> names = new TreeSet<>();
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
        Matcher found = IMPORT.matcher(Files.readString(file));
        found.results().map(each -> each.group(1)).forEach(names::add);
      }
    }
    return names;
  }

  /** Class → the artifact that has it, of all jars of Vert.x and Hazelcast on the class path. */
  private static Map<String, String> classes() throws IOException {
    Pattern name = Pattern.compile("((?:vertx|hazelcast)[a-z0-9-]*?)-\\d.*\\.jar");
    Map<String, String> classes = new HashMap<>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      Matcher artifact = name.matcher(Path.of(entry).getFileName().toString());
      if (artifact.matches()) {
        try (JarFile jar = new JarFile(entry)) {
          jar.stream()
              .map(each -> each.getName())
              .filter(each -> each.endsWith(".class"))
              .map(each -> each.substring(0, each.length() - 6).replaceAll("[/$]", "."))
              .forEach(each -> classes.putIfAbsent(each, artifact.group(1)));
        }
      }
    }
    return classes;
  }

  /** The artifacts that have these imports: of classes, nested ones, or members of them. */
  private static Set<String> artifacts(Set<String> imports, Map<String, String> classes) {
    Set<String> artifacts = new TreeSet<>();
    for (String each : imports) {
      String name = each;
      while (!classes.containsKey(name) && name.lastIndexOf('.') > 0) {
        name = name.substring(0, name.lastIndexOf('.'));
      }
      assertThat(classes).as("no jar of the class path has " + each).containsKey(name);
      artifacts.add(classes.get(name));
    }
    return artifacts;
  }

  @Test
  void eachIsUsedAndWhatIsUsedIsNamed() throws IOException {
    Map<String, Boolean> declared = declared();
    assertThat(declared).containsKeys("vertx-core", "vertx-hazelcast", "hazelcast");
    Map<String, String> classes = classes();
    Set<String> used = artifacts(imported(MAIN), classes);
    Set<String> usedByTests = artifacts(imported(TESTS), classes);
    List<String> needless = new ArrayList<>();
    declared.forEach(
        (artifact, testsOnly) -> {
          if (!FOR_THE_COMPILER.contains(artifact)
              && !(testsOnly ? usedByTests : used).contains(artifact)) {
            needless.add(artifact);
          }
        });
    assertThat(needless).as("declared in the pom and imported by no source").isEmpty();
    Set<String> ofMain = new TreeSet<>(declared.keySet());
    ofMain.removeIf(declared::get);
    assertThat(ofMain).as("what main sources import is declared").containsAll(used);
    assertThat(declared.keySet()).as("what tests import is declared").containsAll(usedByTests);
  }
}
