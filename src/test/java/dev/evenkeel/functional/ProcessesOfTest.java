package dev.evenkeel.functional;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Adds to the error of a failed test what each of its processes said last, and kills those that it
 * has left running: they would hold up all other tests. JUnit finds it by itself.
 */
public final class ProcessesOfTest
    implements BeforeEachCallback, AfterEachCallback, TestExecutionExceptionHandler {
  private static final List<Jar.Running> STARTED = new CopyOnWriteArrayList<>();

  /** Lines of standard error that are shown of a process. */
  private static final int LINES = 5;

  static Jar.Running add(Jar.Running started) {
    STARTED.add(started);
    return started;
  }

  /** What was started before belongs to the whole class. */
  @Override
  public void beforeEach(ExtensionContext context) {
    STARTED.clear();
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (context.getExecutionException().isPresent()) {
      STARTED.forEach(running -> running.process.destroyForcibly());
    }
  }

  @Override
  public void handleTestExecutionException(ExtensionContext context, Throwable failure)
      throws Throwable {
    if (!STARTED.isEmpty()) {
      failure.addSuppressed(new Told(STARTED.stream().map(ProcessesOfTest::last).toList()));
    }
    throw failure;
  }

  private static String last(Jar.Running running) {
    List<String> lines = running.err().lines().toList();
    String end =
        lines.stream().skip(Math.max(0, lines.size() - LINES)).collect(Collectors.joining("\n  "));
    String state = running.process.isAlive() ? "runs" : "status " + running.process.exitValue();
    return running.err.getFileName() + " (" + state + "): " + end;
  }

  /** What the processes said; it has no place of its own in the code. */
  private static final class Told extends Exception {
    private static final long serialVersionUID = 1L;

    Told(List<String> each) {
      super("the test's processes:\n" + String.join("\n", each), null, false, false);
    }
  }
}
