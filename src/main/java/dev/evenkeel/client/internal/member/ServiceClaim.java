package dev.evenkeel.client.internal.member;

import dev.evenkeel.client.DedupClaim;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.dedup.Departure;
import dev.evenkeel.dedup.LeasedClaim;
import dev.evenkeel.dedup.LeasedCoordinator;
import dev.evenkeel.dedup.ThreadClaims;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.CompletableFuture;

/** A claim of a {@link ServiceDedup}, also before its turn. */
public final class ServiceClaim implements DedupClaim, ThreadClaims.Claim {
  private final LeasedCoordinator coordinator;
  private final LeasedClaim claim;
  private final String key;
  private final Promise<Void> lost = Promise.promise();

  ServiceClaim(LeasedCoordinator coordinator, LeasedClaim claim, String key) {
    this.coordinator = coordinator;
    this.claim = claim;
    this.key = key;
    claim.lost().thenRun(lost::complete);
  }

  /** Completes with the first answer; fails as {@link #turn} does. */
  public CompletableFuture<Answer> answered() {
    return claim.answered().toCompletableFuture();
  }

  @Override
  public CompletableFuture<Answer> turn() {
    return claim.turn().toCompletableFuture();
  }

  @Override
  public String key() {
    return key;
  }

  @Override
  public boolean isHeld() {
    return coordinator.isHeld(claim);
  }

  @Override
  public Future<Boolean> giveBack() {
    Promise<Boolean> promise = Promise.promise();
    coordinator.giveBack(claim).thenAccept(departure -> left(departure, promise));
    return promise.future();
  }

  private void left(Departure departure, Promise<Boolean> promise) {
    switch (departure) {
      case FREED, PASSED_ON -> promise.complete(true);
      case LEFT_QUEUE, NOT_HEAD -> promise.complete(false);
      case UNKNOWN ->
          promise.fail(
              Refusal.INDETERMINATE.error(
                  "the key '%s' is given back, but answers were lost: nobody knows whether the"
                      + " claim had it until then",
                  key));
    }
  }

  @Override
  public Future<Void> lost() {
    return lost.future();
  }
}
