package examples;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.Dedup;
import dev.evenkeel.client.plain.PlainClient;
import java.util.List;

/** Renders a page in several threads and programs, of which one works and one waits. */
public final class DedupServiceExample {
  private static final long RENDER_MILLIS = 500;

  private final Dedup dedup;

  private DedupServiceExample(Dedup dedup) {
    this.dedup = dedup;
  }

  public static void main(String[] args) throws InterruptedException {
    ClientOptions options = new ClientOptions().setSeeds(List.of(args[0]));
    try (PlainClient client = Evenkeel.connectAndWait(options)) {
      DedupServiceExample cache = new DedupServiceExample(client.dedup("page-cache"));
      Thread[] callers = new Thread[5];
      for (int i = 0; i < callers.length; i++) {
        callers[i] = new Thread(cache::refresh);
        callers[i].start();
      }
      for (Thread caller : callers) {
        caller.join();
      }
      System.out.println(cache.dedup.counts());
    }
  }

  private void refresh() {
    try {
      if (dedup.enQueue("/news")) {
        try {
          System.out.println("rendering");
          Thread.sleep(RENDER_MILLIS);
        } finally {
          dedup.deQueue("/news");
        }
      } else {
        System.out.println("another one will render it");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
