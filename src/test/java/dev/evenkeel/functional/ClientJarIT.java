package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestUsers;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The client jar holds the client and no node, and is all that an application needs. */
class ClientJarIT {
  private static final Pattern OF_THE_CLIENT =
      Pattern.compile(
          "dev/evenkeel/([A-Za-z$-]+|(client|settings|api|protocol|util|level|dedup|bus|cluster)/.+)\\.class"
              + "|org/jspecify/annotations/[A-Za-z]+\\.class"
              + "|META-INF/(MANIFEST\\.MF|maven/.+)");

  private static final Pattern DEPENDENCY = Pattern.compile("(?s)<dependency>(.*?)</dependency>");

  @TempDir Path directory;

  @Test
  void holdsThePackagesOfTheClientAlone() throws IOException {
    List<String> names = files(Program.CLIENT_JAR);
    assertThat(names)
        .allMatch(name -> OF_THE_CLIENT.matcher(name).matches())
        .noneMatch(name -> name.startsWith("dev/evenkeel/bus/meters/"))
        .contains("dev/evenkeel/Evenkeel.class", "dev/evenkeel/ConsumerVerticle.class");
    for (String each :
        List.of(
            "client", "settings", "api", "protocol", "util", "level", "dedup", "bus", "cluster")) {
      assertThat(names).anyMatch(name -> name.startsWith("dev/evenkeel/" + each + "/"));
    }
    assertThat(files(Jar.JAR)).containsAll(names.stream().filter(this::isClass).toList());
  }

  private boolean isClass(String name) {
    return name.endsWith(".class");
  }

  private static List<String> files(Path jar) throws IOException {
    try (JarFile opened = new JarFile(jar.toFile())) {
      return opened.stream()
          .filter(entry -> !entry.isDirectory())
          .map(entry -> entry.getName())
          .toList();
    }
  }

  /** {@link Program#clientJarAndLibraries} knows what these bring, and lets nothing else pass. */
  @Test
  void bringsNoDependencyButVertxAndSlf4j() throws IOException {
    String pom = Files.readString(Path.of("pom.xml"));
    int end = pom.indexOf("<profiles>");
    String dependencies =
        pom.substring(pom.indexOf("</dependencyManagement>"), end < 0 ? pom.length() : end);
    List<String> brought = new ArrayList<>();
    Matcher dependency = DEPENDENCY.matcher(dependencies);
    while (dependency.find()) {
      String each = dependency.group(1);
      if (!each.contains("<optional>true</optional>")
          && !each.contains("<scope>test</scope>")
          && !each.contains("<scope>provided</scope>")) {
        brought.add(each.replaceAll("(?s).*<artifactId>(.*?)</artifactId>.*", "$1"));
      }
    }
    assertThat(brought).containsExactlyInAnyOrder("vertx-core", "slf4j-api");
  }

  @Test
  void theExamplesCompileAgainstItAndRunWithANode() throws IOException {
    TestUsers.assumeNone("programs on the pages show no token");
    Path classes = compileExamples();
    try (Node node = new Node(directory.resolve("node")).start()) {
      node.createTopic("orders", 3);
      assertThat(run(classes, "ProduceExample", node.cluster(), "orders", "500"))
          .contains("acknowledged 500");
      assertThat(run(classes, "ConsumeExample", node.cluster(), "orders", "billing", "500"))
          .contains("handled 500");
    }
  }

  private Path compileExamples() throws IOException {
    Path classes = Files.createDirectories(directory.resolve("classes"));
    List<Path> sources;
    try (Stream<Path> files = Files.list(Path.of("src/test/java/examples"))) {
      // Tests need the test kit, too.
      sources = files.filter(file -> file.toString().endsWith("Example.java")).toList();
    }
    assertThat(sources).isNotEmpty();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> problems = new ArrayList<>();
    // One of them has a clustered Vert.x of its own, another one a tracer.
    List<String> classPath = new ArrayList<>(Program.clientJarAndLibraries());
    classPath.addAll(Program.clusteredLibraries());
    classPath.addAll(Program.tracingLibraries());
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean compiled =
          compiler
              .getTask(
                  null,
                  files,
                  problem -> problems.add(problem.toString()),
                  List.of(
                      "-proc:none",
                      "--release",
                      "17",
                      "-d",
                      classes.toString(),
                      "-cp",
                      String.join(File.pathSeparator, classPath)),
                  null,
                  files.getJavaFileObjectsFromPaths(sources))
              .call();
      assertThat(compiled).as(problems.toString()).isTrue();
    }
    return classes;
  }

  private String run(Path classes, String example, String... args) {
    List<String> classPath = new ArrayList<>(Program.clientJarAndLibraries());
    classPath.add(classes.toString());
    try (Jar.Running running =
        Program.start(directory, example, classPath, "examples." + example, args)) {
      Jar.Result result = running.await();
      assertThat(result.status()).as(result.toString()).isZero();
      return result.out();
    }
  }
}
