package dev.evenkeel.gateway;

import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.AwaitClaim;
import dev.evenkeel.api.ClaimKey;
import dev.evenkeel.api.ClaimView;
import dev.evenkeel.api.GiveBackClaim;
import dev.evenkeel.api.GiveBackClaim.EndedClaim;
import dev.evenkeel.api.InClaim;
import dev.evenkeel.api.Operations;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.client.DedupOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.member.ServiceClaim;
import dev.evenkeel.client.internal.member.ServiceDedup;
import dev.evenkeel.dedup.Answer;
import dev.evenkeel.gateway.OwnedByGateway.Opened;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.HashMap;
import java.util.Map;

/**
 * Answers {@code evenkeel.api.dedup}: claims of keys for programs that do not use the client
 * library. A claim lives in the gateway that made it; the others pass its requests on.
 */
final class DedupApi {
  /** Most claims of a gateway. */
  static final int CLAIMS_MAX = 10_000;

  /** Most dedups of a gateway: pairs of a name and a timeout. */
  private static final int DEDUPS_MAX = 1_000;

  /** How long a dedup without claims stays, because a new one has to connect first. */
  private static final long IDLE_MILLIS_MAX = 60_000;

  /** Claims with one timeout. */
  private record Kind(String name, long timeoutMillis) {}

  /** A dedup, and how many claims use it. */
  private static final class Shared {
    final ServiceDedup dedup;
    int claims;
    long idleSinceMillis;

    Shared(ServiceDedup dedup) {
      this.dedup = dedup;
    }
  }

  /** That a claim uses a dedup, until {@link #end} is called first. */
  private static final class Use {
    final Shared of;
    private boolean ended;

    Use(Shared of) {
      this.of = of;
      of.claims++;
    }

    void end() {
      if (!ended) {
        ended = true;
        of.claims--;
        of.idleSinceMillis = MonotonicClock.millis();
      }
    }
  }

  private final Vertx vertx;
  private final EvenkeelClient client;
  private final OwnedByGateway<PolledClaim> claims;
  private final Map<Kind, Shared> dedups = new HashMap<>();

  DedupApi(Vertx vertx, EvenkeelClient client) {
    this.vertx = vertx;
    this.client = client;
    claims = new OwnedByGateway<>(vertx, "claim", Scarce.CLAIMS, CLAIMS_MAX, this::answerHere);
  }

  Future<Void> start() {
    return claims.start();
  }

  /** Gives all keys back. */
  Future<Void> stop() {
    return claims
        .stop()
        .eventually(
            () -> Future.join(dedups.values().stream().map(each -> each.dedup.close()).toList()));
  }

  /**
   * @param poll not used
   */
  Future<Object> answer(JsonObject request, String poll) {
    return claims.answer(request, poll);
  }

  private Future<Object> answerHere(JsonObject request, String poll) {
    return new ApiAnswers()
        .on(Operations.CLAIM_KEY, this::claim)
        .on(Operations.AWAIT_CLAIM, this::await)
        .on(Operations.GIVE_BACK_CLAIM, this::giveBack)
        .answer(ApiAddresses.DEDUP, request);
  }

  private Future<ClaimView> claim(ClaimKey asked) {
    Use use = new Use(shared(new Kind(asked.dedup(), asked.timeoutMs())));
    boolean[] declined = {false};
    return begun(asked, use, declined)
        .onFailure(failure -> use.end())
        .compose(
            opened ->
                opened.owned().await(asked.waitMs()).map(state -> view(opened.id(), state, asked)))
        .recover(
            failure ->
                declined[0]
                    ? Future.succeededFuture(new ClaimView(null, "declined", null))
                    : Future.failedFuture(failure));
  }

  private Future<Opened<PolledClaim>> begun(ClaimKey asked, Use use, boolean[] declined) {
    try {
      return claims.open(
          asked.user(),
          () -> answered(use.of.dedup.begin(asked.key()), declined),
          (begun, id) ->
              new PolledClaim(
                  vertx,
                  begun,
                  asked.dedup(),
                  asked.user(),
                  asked.expiresMs(),
                  () -> {
                    claims.ended(id);
                    use.end();
                  }));
    } catch (RefusedException e) {
      return Future.failedFuture(e);
    }
  }

  private static ClaimView view(String id, String state, ClaimKey asked) {
    return state.equals("declined")
        ? new ClaimView(null, state, null)
        : new ClaimView(id, state, asked.expiresMs());
  }

  /** Completes with the claim when it has its first answer; fails if it is declined. */
  private static Future<ServiceClaim> answered(ServiceClaim claim, boolean[] declined) {
    return Future.fromCompletionStage(claim.answered())
        .compose(
            answer -> {
              if (answer == Answer.DECLINE) {
                declined[0] = true;
                return Future.failedFuture("declined");
              }
              return Future.succeededFuture(claim);
            });
  }

  private Shared shared(Kind kind) {
    Shared shared = dedups.get(kind);
    if (shared != null) {
      return shared;
    }
    if (dedups.size() >= DEDUPS_MAX) {
      closeIdle(0);
    }
    if (dedups.size() >= DEDUPS_MAX) {
      throw Refusal.OVERLOADED.error(
          "this node has claims of %s dedups: ask another node", DEDUPS_MAX);
    }
    DedupOptions options =
        new DedupOptions()
            .setName(kind.name())
            .setTimeoutMillis(kind.timeoutMillis())
            .setClaimsMax(CLAIMS_MAX);
    shared = new Shared((ServiceDedup) client.dedup(options));
    dedups.put(kind, shared);
    return shared;
  }

  /** Closes dedups that had no claims for a while. */
  void closeIdle() {
    closeIdle(IDLE_MILLIS_MAX);
  }

  private void closeIdle(long idleMillis) {
    long now = MonotonicClock.millis();
    dedups
        .values()
        .removeIf(
            each -> {
              boolean idle = each.claims == 0 && now - each.idleSinceMillis >= idleMillis;
              if (idle) {
                each.dedup.close();
              }
              return idle;
            });
  }

  private PolledClaim claim(InClaim in) {
    PolledClaim claim = claims.get(in.claim(), each -> each.dedup().equals(in.dedup()));
    claim.use(in.user());
    return claim;
  }

  private Future<ClaimView> await(AwaitClaim asked) {
    PolledClaim claim = claim(asked.in());
    return claim
        .await(asked.waitMs())
        .map(
            state ->
                state.equals("declined")
                    ? new ClaimView(null, state, null)
                    : new ClaimView(asked.in().claim(), state, claim.expiresMillis()));
  }

  private Future<EndedClaim> giveBack(GiveBackClaim asked) {
    return claim(asked.in()).giveBack().map(held -> new EndedClaim(asked.in().claim(), held));
  }
}
