package dev.evenkeel.cli;

import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code evenkeel class-archive}. ADR 41 says why it makes a static archive of a class list. */
@Command(
    name = "class-archive",
    description = {
      "Makes the class archive, with which commands and nodes start in half the time.",
      "It runs a node and some commands on this machine, for as long as it takes to see which classes"
          + " they load, and removes their data. The archive lies beside the jar, or in the cache of"
          + " the user if the directory of the jar cannot be written. The script evenkeel uses it for"
          + " this jar and this version of Java. Make it again after an upgrade of either."
    },
    footer = "  evenkeel class-archive")
final class ClassArchiveCommand implements Callable<Integer> {
  private static final long DUMP_MILLIS_MAX = 120_000;

  @Spec private CommandSpec spec;

  /** The last line in which a JVM told why it could not make the archive. */
  private volatile String error = "it gave no reason";

  @Override
  public Integer call() throws InterruptedException {
    Path jar = OwnProgram.source();
    if (!Files.isRegularFile(jar)) {
      throw CommandFailure.failed(
          "only a jar can have a class archive, and the program runs from "
              + jar
              + ": run it from evenkeel.jar");
    }
    Path archive = ClassArchive.place(jar, System.getenv());
    try (TrainingRun training = new TrainingRun()) {
      List<String> classes = training.classes();
      Path made = null;
      try {
        Files.createDirectories(archive.getParent());
        made = Files.createTempFile(archive.getParent(), archive.getFileName() + ".", ".new");
        dump(training.directory(), classes, jar, made);
        DurableFiles.move(made, archive);
      } catch (IOException e) {
        throw CommandFailure.failed("cannot write " + archive + ": " + e, e);
      } finally {
        deleteIfExists(made);
      }
    }
    PrintWriter out = spec.commandLine().getOut();
    out.println("made " + archive);
    out.flush();
    return ExitStatus.DONE;
  }

  /** Some JVMs of Java 17 crash while they archive lambdas: those make an archive without them. */
  private void dump(Path directory, List<String> classes, Path jar, Path made)
      throws IOException, InterruptedException {
    if (!dumped(directory, classes, jar, made)) {
      List<String> withoutLambdas = classes.stream().filter(line -> !line.startsWith("@")).toList();
      if (!dumped(directory, withoutLambdas, jar, made)) {
        throw CommandFailure.failed("this Java cannot make a class archive: " + error);
      }
    }
    // Java 17 makes it read-only, and only what can be written can be flushed.
    if (!made.toFile().setWritable(true)) {
      throw new IOException("cannot change the permissions of " + made);
    }
    DurableFiles.force(made);
  }

  private boolean dumped(Path directory, List<String> classes, Path jar, Path made)
      throws IOException, InterruptedException {
    Path list = Files.write(directory.resolve("classes"), classes);
    Files.deleteIfExists(made);
    List<String> command = new ArrayList<>();
    command.add(OwnProgram.java().toString());
    // Only this collector can archive objects.
    command.addAll(List.of("-Xshare:dump", "-XX:+UseG1GC", "-Xlog:disable", "-Xlog:all=error"));
    command.addAll(List.of("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + directory + "/crash"));
    command.addAll(List.of("-XX:SharedClassListFile=" + list, "-XX:SharedArchiveFile=" + made));
    command.addAll(List.of("-cp", jar.toString()));
    ChildProcess process =
        ChildProcess.start(
            "the JVM that makes the archive", command, ProcessBuilder.Redirect.PIPE, this::told);
    process.readErrors(this::told);
    try {
      return process.awaitEnd(DUMP_MILLIS_MAX)
          && process.exitStatus() == 0
          && Files.isRegularFile(made);
    } finally {
      process.kill();
    }
  }

  private void told(String line) {
    if (line != null && !line.isBlank()) {
      error = line.strip();
    }
  }

  private static void deleteIfExists(Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      System.err.println("evenkeel: cannot remove " + file + ": " + e);
    }
  }
}
