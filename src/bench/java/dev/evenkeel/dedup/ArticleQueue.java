package dev.evenkeel.dedup;

import java.util.concurrent.ConcurrentHashMap;

/**
 * The algorithm of the articles, written as it is described: one automaton a key, made when the key
 * is first seen and kept for ever; each is synchronized; who waits sleeps and looks again.
 */
final class ArticleQueue<K> {
  private static final long SLEEP_MILLIS = 10;

  /** Head and tail are threads, as there. */
  private static final class KeyAutomaton {
    private Thread head;
    private Thread tail;

    synchronized Answer enQueue(Thread thread) {
      if (head == null) {
        head = thread;
        return Answer.ACCEPT;
      }
      if (tail == null) {
        tail = thread;
        return Answer.BLOCK;
      }
      return Answer.DECLINE;
    }

    synchronized void deQueue() {
      head = tail;
      tail = null;
    }

    synchronized boolean isHead(Thread thread) {
      return head == thread;
    }
  }

  private final ConcurrentHashMap<K, KeyAutomaton> automata = new ConcurrentHashMap<>();

  /** Blocks until it is this thread's turn; false if it is declined. */
  boolean enQueue(K key) {
    KeyAutomaton automaton = automata.computeIfAbsent(key, each -> new KeyAutomaton());
    Thread thread = Thread.currentThread();
    switch (automaton.enQueue(thread)) {
      case ACCEPT:
        return true;
      case BLOCK:
        while (!automaton.isHead(thread)) {
          try {
            Thread.sleep(SLEEP_MILLIS);
          } catch (InterruptedException e) {
            thread.interrupt();
            return false;
          }
        }
        return true;
      default:
        return false;
    }
  }

  void deQueue(K key) {
    automata.get(key).deQueue();
  }

  int keys() {
    return automata.size();
  }
}
