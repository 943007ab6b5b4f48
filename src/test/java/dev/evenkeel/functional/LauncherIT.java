package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.TestPorts;
import dev.evenkeel.Wait;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The script {@code evenkeel} starts the jar with the right Java and its options, and changes
 * nothing else. Most tests give it a program for Java that prints its arguments.
 */
class LauncherIT {
  private static final Path SCRIPT = Jar.JAR.resolveSibling("evenkeel");
  private static final String VERSION = "17.0.99";
  private static final String SERIAL = "-XX:+UseSerialGC";
  private static final Instant BUILT = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir Path directory;
  private Path script;
  private Path jar;
  private Path javaHome;
  private final Map<String, String> variables = new HashMap<>();

  @BeforeEach
  void install() throws IOException {
    script = directory.resolve("opt/bin/evenkeel");
    jar = directory.resolve("opt/lib/evenkeel.jar");
    Files.createDirectories(script.getParent());
    Files.createDirectories(jar.getParent());
    Files.copy(SCRIPT, script);
    Files.createFile(jar);
    Files.setLastModifiedTime(jar, FileTime.from(BUILT));
    javaHome = directory.resolve("java home");
    executable(javaHome.resolve("bin/java"), "for each; do printf '%s\\n' \"$each\"; done; exit 7");
    release(VERSION);
    variables.put("JAVA_HOME", javaHome.toString());
    variables.put("JAVA_OPTS", "");
    variables.put("XDG_CACHE_HOME", directory.resolve("cache").toString());
  }

  private static void executable(Path file, String body) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  private void release(String version) throws IOException {
    Files.writeString(
        javaHome.resolve("release"),
        "IMPLEMENTOR=\"Test\"\nJAVA_VERSION=\"" + version + "\"\nJAVA_VERSION_DATE=\"2026\"\n");
  }

  private Jar.Running start(Path what, String... args) {
    List<String> command = new ArrayList<>(List.of("env"));
    for (String option : List.of("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")) {
      if (!variables.containsKey(option)) {
        command.addAll(List.of("-u", option));
      }
    }
    command.addAll(List.of("/bin/sh", what.toString()));
    command.addAll(List.of(args));
    return Jar.unfed(
        Jar.launch(
            command,
            new Surroundings(List.of(), variables),
            directory,
            "launched-" + System.nanoTime()));
  }

  private Jar.Result run(String... args) {
    try (Jar.Running running = start(script, args)) {
      return running.await();
    }
  }

  /** The options of the JVM that a command gets. */
  private List<String> options(String... args) {
    List<String> lines = run(args).lines();
    assertThat(lines).contains("-jar");
    return lines.subList(0, lines.indexOf("-jar"));
  }

  private void assertRefused(String... words) {
    Jar.Result result = run("topic", "list");
    assertThat(result.status()).as(result.toString()).isEqualTo(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.err().strip()).hasLineCount(1).startsWith("evenkeel: ").contains(words);
  }

  // ---- what it passes on ----

  @Test
  void argumentsAndTheExitStatusPassUnchanged() {
    String[] args = {"produce", "a b", "*", "", "$HOME", "--key-regex=(\\d+) '\"", "-jar", "\\"};
    Jar.Result result = run(args);
    assertThat(result.status()).isEqualTo(7);
    List<String> expected = new ArrayList<>(List.of("-jar", jar.toString()));
    expected.addAll(List.of(args));
    assertThat(result.lines()).isEqualTo(expected);
  }

  @Test
  void theProcessBecomesJavaSoThatSignalsReachIt() throws IOException {
    executable(javaHome.resolve("bin/java"), "echo $$");
    try (Jar.Running running = start(script, "serve")) {
      assertThat(running.await().out().strip()).isEqualTo(String.valueOf(running.process.pid()));
    }
  }

  @Test
  void optionsOfTheUserComeLastAndAreNoPatterns() {
    variables.put("JAVA_OPTS", "-Xmx1g  -Da=*");
    variables.put("EVENKEEL_JAVA_OPTS", "-Xmx2g");
    assertThat(options("serve")).containsExactly("-Xmx1g", "-Da=*", "-Xmx2g");
  }

  @Test
  void onlyCommandsThatEndSoonAreCompiledLightly() {
    assertThat(options("--verbose", "topic", "list")).contains("-XX:TieredStopAtLevel=1", SERIAL);
    for (String command : List.of("serve", "consume", "produce", "demo", "bench")) {
      assertThat(options(command, "topic")).isEmpty();
    }
  }

  @Test
  void aCollectorThatTheUserChoosesIsTheOnlyOne() {
    variables.put("JDK_JAVA_OPTIONS", "-Xmx1g -XX:+UseParallelGC");
    assertThat(options("topic")).contains("-XX:TieredStopAtLevel=1").doesNotContain(SERIAL);
  }

  @Test
  void aLinkToTheScriptWorks() throws IOException {
    Path link = Files.createSymbolicLink(directory.resolve("linked"), Path.of("opt/bin/evenkeel"));
    try (Jar.Running running = start(link, "serve")) {
      assertThat(running.await().lines()).containsExactly("-jar", jar.toString(), "serve");
    }
  }

  // ---- the class archive ----

  private static Path archive(Path file, Instant made) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "no archive");
    Files.setLastModifiedTime(file, FileTime.from(made));
    return file;
  }

  @Test
  void theArchiveOfThisJarAndThisJavaIsUsed() throws IOException {
    assertThat(options("serve")).isEmpty();
    archive(jar.resolveSibling("evenkeel-java-21.jsa"), BUILT.plusSeconds(60));
    assertThat(options("serve")).isEmpty();
    Path archive = jar.resolveSibling("evenkeel-java-" + VERSION + ".jsa");
    archive(archive, BUILT.minusSeconds(60));
    assertThat(options("serve")).isEmpty();
    archive(archive, BUILT.plusSeconds(60));
    assertThat(options("serve")).contains("-XX:SharedArchiveFile=" + archive);
  }

  @Test
  void anArchiveInTheCacheIsUsed() throws IOException {
    String version = Jar.run(directory, "--version").out().strip().replace("evenkeel ", "");
    Path archive =
        directory.resolve("cache/evenkeel/evenkeel-" + version + "-java-" + VERSION + ".jsa");
    archive(archive, BUILT.plusSeconds(60));
    assertThat(options("serve")).contains("-XX:SharedArchiveFile=" + archive);
  }

  /** With the real Java and the real jar. */
  private void useReal() throws IOException {
    variables.put("JAVA_HOME", System.getProperty("java.home"));
    Files.delete(jar);
    Files.createSymbolicLink(jar, Jar.JAR);
  }

  private static String archiveName() {
    return dev.evenkeel.cli.ClassArchive.place(Jar.JAR, Map.of("HOME", "/"))
        .getFileName()
        .toString();
  }

  @Test
  void aDamagedArchiveIsIgnored() throws IOException {
    useReal();
    Path archive = jar.resolveSibling(archiveName());
    for (String content : List.of("", "no archive", "x".repeat(100_000))) {
      Files.writeString(archive, content);
      Jar.Result result = run("--version");
      assertThat(result.status()).as(result.toString()).isZero();
      assertThat(result.lines()).hasSize(1);
      assertThat(result.out()).startsWith("evenkeel ");
      assertThat(result.err()).isEmpty();
    }
  }

  @Test
  void nothingIsWrittenSoAReadOnlyPlaceWorks() throws IOException {
    useReal();
    var readOnly = PosixFilePermissions.fromString("r-xr-xr-x");
    Files.setPosixFilePermissions(jar.getParent(), readOnly);
    Files.setPosixFilePermissions(script.getParent(), readOnly);
    try {
      assertThat(run("--version").out()).startsWith("evenkeel ");
      try (var files = Files.list(jar.getParent())) {
        assertThat(files).containsExactly(jar);
      }
      assertThat(directory.resolve("cache")).doesNotExist();
    } finally {
      var writable = PosixFilePermissions.fromString("rwxr-xr-x");
      Files.setPosixFilePermissions(jar.getParent(), writable);
      Files.setPosixFilePermissions(script.getParent(), writable);
    }
  }

  // ---- the real program ----

  @Test
  void aNodeStartsAnswersAndStopsOnSigterm() {
    variables.put("JAVA_HOME", System.getProperty("java.home"));
    int http = TestPorts.take(1);
    try (Jar.Running node =
        start(
            SCRIPT,
            words(
                "serve --port %s --http-port %s --data %s",
                TestPorts.take(4), http, directory.resolve("data")))) {
      Wait.until(240, () -> node.out().contains("evenkeel ready") || !node.process.isAlive());
      try (Jar.Running list =
          start(SCRIPT, "topic", "list", "--http", "http://127.0.0.1:" + http)) {
        Jar.Result listed = list.await();
        assertThat(listed.out()).as(listed.toString()).startsWith("TOPIC");
        assertThat(listed.status()).isZero();
      }
      Jar.Result stopped = node.stop();
      assertThat(stopped.status()).as(stopped.toString()).isZero();
    }
  }

  @Test
  void theVariableOfTheScriptIsNoSettingOfANode() {
    variables.put("JAVA_HOME", System.getProperty("java.home"));
    variables.put("EVENKEEL_JAVA_OPTS", "-Xmx512m");
    try (Jar.Running node = start(SCRIPT, "serve", "--port", "x")) {
      assertThat(node.await().err()).contains("port is 'x'");
    }
  }

  // ---- which Java ----

  @Test
  void withoutJavaItSaysWhatToDo() {
    variables.put("JAVA_HOME", "");
    variables.put("PATH", directory.toString());
    assertRefused("there is no java", "install Java 17", "JAVA_HOME");
  }

  @Test
  void aWrongJavaHomeIsNamed() {
    variables.put("JAVA_HOME", "/no/such");
    assertRefused("/no/such/bin/java is missing", "set JAVA_HOME");
  }

  @Test
  void anOldJavaIsNamed() throws IOException {
    release("11.0.22");
    assertRefused("is Java 11.0.22", "install Java 17");
    // Without the file, Java is asked.
    Files.delete(javaHome.resolve("release"));
    executable(javaHome.resolve("bin/java"), "echo 'java version \"1.8.0_392\"' >&2");
    assertRefused("is Java 1.8.0_392", "install Java 17");
    executable(javaHome.resolve("bin/java"), "echo 'hello'");
    assertRefused("does not tell its version", "JAVA_HOME");
  }

  @Test
  void aMissingJarIsNamed() throws IOException {
    Files.delete(jar);
    assertRefused("there is no evenkeel.jar", jar.getParent().toString());
  }

  // ---- what lies beside it ----

  private static List<String> completions(Path directory, String... words) {
    // Outside of a shell that somebody types into, compopt would fail.
    String line =
        ("compopt() { :; }; source '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _complete_evenkeel;"
                + " echo \"${COMPREPLY[@]}\"")
            .formatted(
                Jar.JAR.resolveSibling("completion/evenkeel"),
                String.join(" ", words),
                words.length - 1);
    try (Jar.Running bash =
        Jar.unfed(
            Jar.launch(
                List.of("bash", "-c", line), Surroundings.NONE, directory, "complete-bash"))) {
      Jar.Result result = bash.await();
      assertThat(result.err()).isEmpty();
      return List.of(result.out().strip().split("\\s+"));
    }
  }

  @Test
  void bashCompletesCommandsAndOptions() {
    assertThat(completions(directory, "evenkeel", "to")).containsExactly("topic");
    assertThat(completions(directory, "evenkeel", "topic", "re")).containsExactly("reshard");
    assertThat(completions(directory, "evenkeel", "topic", "create", "--sh"))
        .containsExactly("--shards");
  }

  @Test
  void theBuildMakesManPages() {
    Path pages = Jar.JAR.resolveSibling("man/man1");
    assertThat(pages.resolve("evenkeel.1.gz")).exists();
    assertThat(pages.resolve("evenkeel-topic-list.1.gz")).exists();
  }
}
