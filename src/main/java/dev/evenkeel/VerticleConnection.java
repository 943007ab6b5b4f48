package dev.evenkeel;

import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.cluster.ClusterMember;
import dev.evenkeel.cluster.ClusterMembers;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Closeable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.function.Consumer;

/**
 * The connection of a verticle: the one that {@link LocalObjects} has for its Vert.x. Otherwise, if
 * they have {@link ClientOptions}, it is a session that all verticles of this Vert.x share. Else it
 * is one of its own on that Vert.x, which then must be clustered by Hazelcast.
 */
final class VerticleConnection {
  /** The member of a Vert.x, or what becomes it. */
  private record Member(Future<ClusterMember> future) {}

  /** The session of a Vert.x, or what becomes it. */
  private record Session(Future<Link> future) {}

  private final Vertx vertx;
  private Link ownLink;
  private ClusterDirectory ownDirectory;

  VerticleConnection(Vertx vertx) {
    this.vertx = vertx;
  }

  Future<Link> link() {
    Link shared = LocalObjects.get(vertx, Link.class);
    if (shared != null) {
      return Future.succeededFuture(shared);
    }
    ClientOptions options = LocalObjects.get(vertx, ClientOptions.class);
    return options != null
        ? session(vertx, options)
        : member(vertx).map(member -> ownLink = over(vertx, member));
  }

  /** It is made for the first verticle that needs it, and ends with the Vert.x. */
  private static Future<Link> session(Vertx vertx, ClientOptions options) {
    Promise<Link> here = ((VertxInternal) vertx).getOrCreateContext().promise();
    synchronized (Session.class) {
      Session known = LocalObjects.get(vertx, Session.class);
      if (known == null || known.future().failed()) {
        known =
            new Session(
                Evenkeel.connect(vertx, options)
                    .map(EvenkeelClientImpl::linkOf)
                    .onSuccess(
                        link -> {
                          LocalObjects.put(
                              vertx, ClusterDirectory.class, new ClusterDirectory(link));
                          LocalObjects.put(vertx, Link.class, link);
                        }));
        LocalObjects.put(vertx, Session.class, known);
      }
      known.future().onComplete(here);
    }
    return here.future();
  }

  /**
   * The member behind an application's Vert.x. Fails with {@code RefusedException} INVALID if there
   * is none.
   */
  static Future<ClusterMember> member(Vertx clustered) {
    Promise<ClusterMember> here = ((VertxInternal) clustered).getOrCreateContext().promise();
    shared(clustered).onComplete(here);
    return here.future();
  }

  /** It listens to Hazelcast for as long as its Vert.x lives: so there is one of it. */
  private static Future<ClusterMember> shared(Vertx clustered) {
    synchronized (Member.class) {
      Member known = LocalObjects.get(clustered, Member.class);
      if (known == null || known.future().failed()) {
        known = new Member(make(clustered));
        LocalObjects.put(clustered, Member.class, known);
      }
      return known.future();
    }
  }

  private static Future<ClusterMember> make(Vertx clustered) {
    try {
      return ClusterMembers.of(clustered);
    } catch (NoClassDefFoundError e) {
      // The client jar does not bring it, because only such applications need it.
      return Future.failedFuture(
          Refusal.INVALID.error(
              "vertx-hazelcast is not on the class path: add it, or use Evenkeel.connect"));
    }
  }

  /**
   * Makes a link on an application's Vert.x, which stays open when the link is closed. The link is
   * closed with the Vert.x: without it, what uses the link could not end.
   */
  static VertxLink over(Vertx clustered, ClusterMember member) {
    VertxLink link = new VertxLink(clustered, member.id());
    Consumer<ClusterMember.Change> handler = change -> link.nodesInSight(change.dataMembers());
    member.onChange(handler);
    VertxInternal vertx = (VertxInternal) clustered;
    Closeable closeHook = closing -> link.close().onComplete(closing);
    vertx.addCloseHook(closeHook);
    link.onState(
        state -> {
          if (state == Link.State.CLOSED) {
            member.offChange(handler);
            vertx.removeCloseHook(closeHook);
          }
        });
    return link;
  }

  ClusterDirectory directory(Link link) {
    ClusterDirectory shared =
        ownLink == null ? LocalObjects.get(vertx, ClusterDirectory.class) : null;
    if (shared != null) {
      return shared;
    }
    ownDirectory = new ClusterDirectory(link);
    return ownDirectory;
  }

  /** Closes the connection if it was made here. */
  Future<Void> close() {
    if (ownDirectory != null) {
      ownDirectory.close();
    }
    return ownLink == null ? Future.succeededFuture() : ownLink.close();
  }
}
