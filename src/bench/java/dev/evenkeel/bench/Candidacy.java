package dev.evenkeel.bench;

import com.hazelcast.core.HazelcastException;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.cp.lock.FencedLock;
import com.hazelcast.map.IMap;
import dev.evenkeel.client.Candidate;
import dev.evenkeel.client.ElectionCareer;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.LeaderContext;
import io.vertx.core.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A candidate that leads, or waits to lead: in an election of ours, or for a lock of Hazelcast.
 * Calls {@code elected} each time when it begins to lead.
 */
interface Candidacy extends AutoCloseable {
  /** Whether it leads. Asked by any thread, and as surely as the system can tell. */
  boolean isLeading();

  /** Lets the next one lead, and competes again. */
  void resign();

  @Override
  void close();

  /** In an election of ours. */
  static Candidacy election(EvenkeelClient client, String name, Runnable elected) {
    ElectionCareer career =
        new ElectionCareer() {
          @Override
          public Future<Void> inaugurate(LeaderContext context) {
            elected.run();
            return Future.succeededFuture();
          }

          @Override
          public Future<Void> execute(LeaderContext context) {
            return Future.succeededFuture();
          }
        };
    Candidate candidate = ServiceLoad.await(client.election(name, career));
    return new Candidacy() {
      @Override
      public boolean isLeading() {
        return candidate.isLeading();
      }

      @Override
      public void resign() {
        candidate.resign();
      }

      @Override
      public void close() {
        ServiceLoad.await(candidate.close());
      }
    };
  }

  /** For a fenced lock of the CP subsystem. */
  static Candidacy fencedLock(HazelcastInstance hazelcast, String name, Runnable elected) {
    FencedLock lock = hazelcast.getCPSubsystem().getLock(name);
    return new LockHolder(elected) {
      @Override
      void lock() throws InterruptedException {
        lock.lockInterruptibly();
      }

      @Override
      void renew() {
        // The session of the program does that.
      }

      @Override
      void unlock() {
        lock.unlock();
      }

      @Override
      public boolean isLeading() {
        // Of others it is known only that somebody has it.
        return lock.isLocked();
      }
    };
  }

  /** For a lock of a map entry that ends unless it is renewed each second. */
  static Candidacy entryLock(HazelcastInstance hazelcast, String name, Runnable elected) {
    IMap<String, String> map = hazelcast.getMap("elections");
    return new LockHolder(elected) {
      @Override
      void lock() throws InterruptedException {
        // An entry that is locked again by its thread must be unlocked as often.
        while (!map.tryLock(
            name, 1, TimeUnit.MINUTES, HazelcastNode.SESSION_SECONDS, TimeUnit.SECONDS)) {
          Thread.onSpinWait();
        }
        locked = 1;
      }

      @Override
      void renew() {
        map.lock(name, HazelcastNode.SESSION_SECONDS, TimeUnit.SECONDS);
        locked++;
      }

      @Override
      void unlock() {
        for (; locked > 0; locked--) {
          map.unlock(name);
        }
      }

      @Override
      public boolean isLeading() {
        return map.isLocked(name);
      }

      private int locked;
    };
  }

  /** A thread that waits for a lock, and holds it until it is told to resign. */
  abstract class LockHolder implements Candidacy {
    private static final long BEFORE_NEXT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Runnable elected;
    private final Semaphore resigned = new Semaphore(0);
    private final Thread thread = new Thread(this::run, "candidate");

    LockHolder(Runnable elected) {
      this.elected = elected;
      thread.setDaemon(true);
      thread.start();
    }

    abstract void lock() throws InterruptedException;

    /** Each second, by the thread that has locked it. */
    abstract void renew();

    abstract void unlock();

    private void run() {
      try {
        while (true) {
          lock();
          try {
            elected.run();
            while (!resigned.tryAcquire(1, TimeUnit.SECONDS)) {
              renew();
            }
          } finally {
            unlock();
          }
          // An entry goes to whoever asks first, which must not be this one.
          LockSupport.parkNanos(BEFORE_NEXT_NANOS);
        }
      } catch (InterruptedException e) {
        // It was closed.
        Thread.currentThread().interrupt();
      } catch (HazelcastException e) {
        // Some calls say so that they were interrupted.
        if (!(e.getCause() instanceof InterruptedException)) {
          throw e;
        }
      }
    }

    @Override
    public void resign() {
      resigned.release();
    }

    @Override
    public void close() {
      thread.interrupt();
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
