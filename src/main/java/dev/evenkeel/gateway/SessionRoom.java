package dev.evenkeel.gateway;

import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.client.ConsumerOptions;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;

/**
 * Divides the memory for messages that sessions have fetched and nobody has asked for yet. Each
 * session gets {@link #LEAST}, which with the limit of sessions is little, and a part of what is
 * left: few sessions get much, and many do not fill the heap.
 */
final class SessionRoom {
  /** Bytes that every session gets: 64 KiB. */
  static final int LEAST = 64 << 10;

  /** Most bytes that a session gets beside that: what a consumer has elsewhere. */
  static final int MOST = new ConsumerOptions().getPendingBytesMax();

  /** A session gets no more than this part of what its user may still get. */
  static final int PARTS = 32;

  private final FairShare share;

  SessionRoom(Vertx vertx) {
    this(Shares.of(vertx).divide(Scarce.SESSION_BYTES, Runtime.getRuntime().maxMemory() / 8));
  }

  SessionRoom(FairShare share) {
    this.share = share;
  }

  /** What one session has. */
  static final class Room {
    private final FairShare.Account account;
    private final int more;
    private boolean given;

    private Room(FairShare.Account account, int more) {
      this.account = account;
      this.more = more;
    }

    /** The options with which a consumer keeps to it. */
    ConsumerOptions limit(ConsumerOptions options) {
      int bytes = LEAST + more;
      return options
          .setPendingBytesMax(Math.min(options.getPendingBytesMax(), bytes))
          .setFetchBytesMax(Math.min(options.getFetchBytesMax(), bytes));
    }

    /** Gives the room back when the session ends. A second call has no effect. */
    void give() {
      if (!given) {
        given = true;
        account.give(more);
      }
    }
  }

  /**
   * Takes room for a session, until {@link Room#give}.
   *
   * @param user null: there are no users
   */
  Room take(@Nullable String user) {
    FairShare.Account account = share.of(user);
    int more = MOST;
    while (more >= LEAST && !account.hasRoom((long) PARTS * more)) {
      more /= 2;
    }
    return new Room(account, more >= LEAST && account.tryTake(more) ? more : 0);
  }
}
