package dev.evenkeel.bus.share;

import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.ShareUse;
import dev.evenkeel.bus.meters.FigureTable;
import dev.evenkeel.bus.meters.MeterScope;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.bus.meters.Rows;
import dev.evenkeel.protocol.ProducerIds;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Everything scarce of one node, and what each user holds of it. All parts of the node count here.
 * Safe for use from any thread.
 */
public final class Shares {
  private final Map<Scarce, FairShare> shares = new EnumMap<>(Scarce.class);
  private final Map<Scarce, LongAdder> refused;
  private final FigureTable held;
  private final FigureTable limits;
  private final int labelsMax;
  private volatile ToDoubleFunction<String> weights = user -> 1;
  private volatile Supplier<? extends Collection<String>> users = List::of;

  private Shares(MeterScope scope) {
    refused =
        scope.counters(
            "evenkeel.share.refused",
            "Requests refused because the user, or the node, has too much of a kind",
            "kind",
            Scarce.class);
    held =
        scope.table(
            "evenkeel.share.held", "What each user holds of what is scarce", "kind", "user");
    limits = scope.table("evenkeel.share.limit", "Limit of the node for all users", "kind");
    labelsMax = scope.labelsMax();
    scope.reading(
        () -> {
          show();
          return Future.succeededFuture();
        });
  }

  /** Those of a node; the same for all of its parts. */
  public static Shares of(Vertx vertx) {
    synchronized (Shares.class) {
      Shares present = LocalObjects.get(vertx, Shares.class);
      if (present == null) {
        present = new Shares(Meters.of(vertx).scope("shares"));
        LocalObjects.put(vertx, Shares.class, present);
      }
      return present;
    }
  }

  /**
   * Divides something among users. A part that is deployed again begins anew: nobody holds any of
   * it.
   *
   * @param max of all users together
   */
  public FairShare divide(Scarce kind, long max) {
    LongAdder refusals = Objects.requireNonNull(refused.get(kind));
    FairShare share =
        new FairShare(kind.words(), max, user -> weights.applyAsDouble(user), refusals::increment);
    synchronized (shares) {
      shares.put(kind, share);
    }
    return share;
  }

  /** Says from now on which {@code share} users have, see {@link FairShare}. */
  public void weigh(ToDoubleFunction<String> weights) {
    this.weights = weights;
  }

  /** Says from now on who the users are. */
  public void know(Supplier<? extends Collection<String>> users) {
    this.users = users;
  }

  /**
   * The user with a tag of {@link ProducerIds}.
   *
   * @return null if no known user has it
   */
  public @Nullable String userOfTag(int tag) {
    return users.get().stream()
        .filter(each -> ProducerIds.tagOf(each) == tag)
        .findFirst()
        .orElse(null);
  }

  /** The {@code share} of a user: 1 unless it has another one. */
  public double weight(String user) {
    return weights.applyAsDouble(user);
  }

  /** By kind, what is divided now. */
  public Map<Scarce, FairShare> all() {
    synchronized (shares) {
      return new EnumMap<>(shares);
    }
  }

  /** What each user holds who holds anything, by kind and name. */
  public List<ShareUse> uses() {
    List<ShareUse> uses = new ArrayList<>();
    all()
        .forEach(
            (kind, share) ->
                share
                    .usage()
                    .forEach(
                        (user, holds) ->
                            uses.add(new ShareUse(kind.label(), user, holds, share.max()))));
    return uses;
  }

  private void show() {
    Rows users = new Rows(labelsMax);
    Rows maxima = new Rows(labelsMax);
    all()
        .forEach(
            (kind, share) -> {
              maxima.add(share.max(), kind.label());
              share.usage().forEach((user, holds) -> users.add(holds, kind.label(), user));
            });
    held.show(users);
    limits.show(maxima);
  }
}
