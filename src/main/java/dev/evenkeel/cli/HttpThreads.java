package dev.evenkeel.cli;

/**
 * Ends the threads of HTTP clients before the program exits. Such a thread waits in the kernel for
 * answers, and a JVM that exits first waits 300 ms for threads in the kernel. In Java 17 a client
 * cannot be closed.
 */
final class HttpThreads {
  private static final long END_MILLIS_MAX = 50;

  private HttpThreads() {}

  static void end() {
    Thread[] threads = new Thread[Thread.activeCount() + 10];
    int count = Thread.enumerate(threads);
    for (int i = 0; i < count; i++) {
      if (threads[i].getName().matches("HttpClient-\\d+-SelectorManager")) {
        end(threads[i]);
      }
    }
  }

  private static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join(END_MILLIS_MAX);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
