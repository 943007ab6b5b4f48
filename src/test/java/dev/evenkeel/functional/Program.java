package dev.evenkeel.functional;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestUsers;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/** Runs a class of the tests' class path in a process of its own. */
public final class Program {
  private Program() {}

  static final Path CLIENT_JAR =
      Path.of(System.getProperty("evenkeel.client.jar", "target/evenkeel-client.jar"))
          .toAbsolutePath();

  private static final String EXAMPLES = "examples.";

  /** The classes of examples that show a token, by their names. */
  private static final Map<String, Path> WITH_TOKEN = new ConcurrentHashMap<>();

  private static final Path TEST_CLASSES = Path.of("target/test-classes").toAbsolutePath();

  /** Names of the jars that the dependencies of the client jar bring, without the optional ones. */
  private static final Pattern CLIENT_LIBRARY =
      Pattern.compile(
          "(vertx-core|vertx-core-logging|netty-[a-z0-9-]+|jackson-core|slf4j-api)-\\d.*\\.jar");

  /** Names of the jars that vertx-core brings. */
  private static final Pattern PLAIN_LIBRARY =
      Pattern.compile("(vertx-core|vertx-core-logging|netty-[a-z0-9-]+|jackson-core)-\\d.*\\.jar");

  /** What a plain Vert.x application has. */
  static List<String> plainLibraries() {
    return libraries(PLAIN_LIBRARY).toList();
  }

  /** What an application adds that has a clustered Vert.x of its own. */
  private static final Pattern CLUSTERED_LIBRARY =
      Pattern.compile("(vertx-hazelcast|hazelcast)-\\d.*\\.jar");

  /** What an application adds that has a tracer. */
  private static final Pattern TRACING_LIBRARY =
      Pattern.compile("(vertx-opentelemetry|opentelemetry-[a-z-]+)-\\d.*\\.jar");

  /** The client jar and what an application gets with it. */
  static List<String> clientJarAndLibraries() {
    return Stream.concat(Stream.of(CLIENT_JAR.toString()), libraries(CLIENT_LIBRARY)).toList();
  }

  /** A logging backend, which an application adds. */
  private static final Pattern LOGGING_LIBRARY =
      Pattern.compile("logback-(classic|core)-\\d.*\\.jar");

  static List<String> loggingLibraries() {
    return libraries(LOGGING_LIBRARY).toList();
  }

  /** The libraries that it needs besides these with a clustered Vert.x of its own. */
  static List<String> clusteredLibraries() {
    return libraries(CLUSTERED_LIBRARY).toList();
  }

  /** The libraries of a program that has no class of Evenkeel, and the classes of the examples. */
  static List<String> vertxAndHazelcastAlone(Path directory) {
    Pattern vertx =
        Pattern.compile(
            "(vertx-core|vertx-core-logging|netty-[a-z0-9-]+|jackson-core)-\\d.*\\.jar");
    return Stream.of(libraries(vertx), libraries(CLUSTERED_LIBRARY), Stream.of(examples(directory)))
        .flatMap(paths -> paths)
        .toList();
  }

  /** A copy, because the other classes of the tests know Evenkeel. */
  private static String examples(Path directory) {
    try {
      Path copy = directory.resolve("program");
      Path to = Files.createDirectories(copy.resolve("examples"));
      try (Stream<Path> files = Files.list(TEST_CLASSES.resolve("examples"))) {
        for (Path file : files.toList()) {
          Files.copy(file, to.resolve(file.getFileName()));
        }
      }
      return copy.toString();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<String> libraries(Pattern names) {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(path -> names.matcher(nameOf(path)).matches());
  }

  /** The same with the classes of the tests, among which the programs are. */
  static List<String> clientClassPath() {
    List<String> classPath = new ArrayList<>(clientJarAndLibraries());
    classPath.add(TEST_CLASSES.toString());
    return classPath;
  }

  /** The libraries that it needs besides these with a tracer. */
  static List<String> tracingLibraries() {
    return libraries(TRACING_LIBRARY).toList();
  }

  private static String nameOf(String path) {
    return Path.of(path).getFileName().toString();
  }

  static Jar.Running start(
      Path directory, String name, List<String> classPath, String main, String... args) {
    List<String> command = new ArrayList<>(List.of(Jar.JAVA.toString(), "-Xmx256m"));
    command.addAll(Jar.USUAL_OPTIONS);
    List<String> all = new ArrayList<>(classPath);
    if (TestUsers.ON && main.startsWith(EXAMPLES)) {
      all.add(0, WITH_TOKEN.computeIfAbsent(main, Program::withToken).toString());
    }
    command.addAll(List.of("-cp", String.join(File.pathSeparator, all), main));
    command.addAll(List.of(args));
    return Jar.unfed(Jar.launch(command, Surroundings.NONE, directory, name));
  }

  /** The classes of an example whose clients show the token of the tests' user. */
  private static Path withToken(String main) {
    try {
      Path source = Path.of("src/test/java", main.replace('.', '/') + ".java");
      Path to = Files.createTempDirectory("example-with-token");
      Path changed = to.resolve(source.getFileName());
      Files.writeString(
          changed,
          Files.readString(source)
              .replace("new ClientOptions()", TestUsers.class.getName() + ".options()"));
      StringWriter errors = new StringWriter();
      JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
      List<String> options =
          List.of("-proc:none", "-cp", System.getProperty("java.class.path"), "-d", to.toString());
      try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
        boolean compiled =
            compiler
                .getTask(errors, files, null, options, null, files.getJavaFileObjects(changed))
                .call();
        assertThat(compiled).as(errors.toString()).isTrue();
      }
      return to;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Runs a class of the tests with the fat jar, and nothing else, on its class path; its standard
   * input is the caller's to feed.
   *
   * @param classes the directory of the tests' classes
   */
  public static Jar.Running startFedWithJar(
      Surroundings surroundings,
      Path directory,
      String name,
      List<String> jvmOptions,
      Path classes,
      String main,
      String... args) {
    List<String> command = new ArrayList<>(surroundings.prefix());
    command.add(Jar.JAVA.toString());
    command.addAll(Jar.ARCHIVE);
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", Jar.JAR + File.pathSeparator + classes, main));
    command.addAll(List.of(args));
    return Jar.launch(command, surroundings, directory, name);
  }
}
