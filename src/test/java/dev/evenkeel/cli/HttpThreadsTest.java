package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class HttpThreadsTest {
  /** In a thread group of its own, because other tests have clients, too. */
  @Test
  void noThreadOfAClientIsLeft() {
    ThreadGroup group = new ThreadGroup("clients");
    CompletableFuture<Void> done = new CompletableFuture<>();
    Runnable call =
        () -> {
          assertThatThrownBy(() -> new HttpApi("http://127.0.0.1:1").get("/api/topics"))
              .isInstanceOf(CommandFailure.class);
          assertThat(selectors(group)).isEqualTo(1);
          HttpThreads.end();
        };
    new Thread(
            group,
            () -> {
              try {
                call.run();
                done.complete(null);
              } catch (Throwable e) {
                done.completeExceptionally(e);
              }
            })
        .start();
    done.join();
    Awaitility.await().until(() -> selectors(group) == 0);
  }

  private static int selectors(ThreadGroup group) {
    Thread[] threads = new Thread[100];
    int selectors = 0;
    for (int i = group.enumerate(threads) - 1; i >= 0; i--) {
      if (threads[i].getName().endsWith("SelectorManager")) {
        selectors++;
      }
    }
    return selectors;
  }
}
