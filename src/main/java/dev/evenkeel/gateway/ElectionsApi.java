package dev.evenkeel.gateway;

import dev.evenkeel.api.AbandonWatch;
import dev.evenkeel.api.AbandonWatch.AbandonedWatch;
import dev.evenkeel.api.ApiAddresses;
import dev.evenkeel.api.CandidateView;
import dev.evenkeel.api.CloseCandidate.ClosedCandidate;
import dev.evenkeel.api.InElection;
import dev.evenkeel.api.OpenCandidate;
import dev.evenkeel.api.OpenCandidate.OpenedCandidate;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.WatchCandidate;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.client.ElectionOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;

/**
 * Answers {@code evenkeel.api.elections}: candidates for programs that do not use the client
 * library. A candidate lives in the gateway that opened it; the others pass its requests on.
 */
final class ElectionsApi {
  /** Most candidates of a gateway. */
  static final int CANDIDATES_MAX = 1_000;

  private final Vertx vertx;
  private final EvenkeelClient client;
  private final OwnedByGateway<PolledCandidate> candidates;

  ElectionsApi(Vertx vertx, EvenkeelClient client) {
    this.vertx = vertx;
    this.client = client;
    candidates =
        new OwnedByGateway<>(
            vertx, "candidate", Scarce.CANDIDATES, CANDIDATES_MAX, this::answerHere);
  }

  Future<Void> start() {
    return candidates.start();
  }

  /** Ends all candidates, whose elections get other leaders. */
  Future<Void> stop() {
    return candidates.stop();
  }

  /**
   * @param poll the name of a request that waits, by which it can be abandoned, or of the one that
   *     is to be abandoned; null: none
   */
  Future<Object> answer(JsonObject request, String poll) {
    return candidates.answer(request, poll);
  }

  private Future<Object> answerHere(JsonObject request, String poll) {
    return new ApiAnswers()
        .on(Operations.OPEN_CANDIDATE, this::open)
        .on(Operations.WATCH_CANDIDATE, asked -> watch(asked, poll))
        .on(Operations.ABANDON_WATCH, asked -> abandon(asked, poll))
        .on(
            Operations.RESIGN_CANDIDATE,
            asked -> Future.succeededFuture(candidate(asked.in()).resign(asked.term())))
        .on(
            Operations.HANDED_OVER,
            asked -> Future.succeededFuture(candidate(asked.in()).handedOver(asked.term())))
        .on(
            Operations.CLOSE_CANDIDATE,
            asked ->
                candidate(asked.in())
                    .close()
                    .map(closed -> new ClosedCandidate(asked.in().candidate())))
        .answer(ApiAddresses.ELECTIONS, request);
  }

  private PolledCandidate candidate(InElection in) {
    PolledCandidate found =
        candidates.get(in.candidate(), each -> each.election().equals(in.election()));
    found.use(in.user());
    return found;
  }

  private Future<OpenedCandidate> open(OpenCandidate asked) {
    ElectionOptions options =
        new ElectionOptions()
            .setName(asked.election())
            .setMember(asked.member())
            .setLockTimeMillis(asked.lockTimeMillis())
            .setPauseMillis(PolledCandidate.PAUSE_MILLIS);
    PolledCandidate.Career career = new PolledCandidate.Career();
    return candidates
        .open(
            asked.user(),
            () -> EvenkeelClientImpl.onBehalfOf(client, asked.user()).election(options, career),
            (candidate, id) ->
                new PolledCandidate(
                    vertx,
                    asked.election(),
                    candidate,
                    career,
                    asked.user(),
                    asked.expiresMs(),
                    () -> candidates.ended(id)))
        .map(
            opened -> new OpenedCandidate(opened.id(), opened.owned().member(), asked.expiresMs()));
  }

  private Future<CandidateView> watch(WatchCandidate asked, String poll) {
    boolean leads = asked.term() != null && !asked.handingOver();
    CandidateView known = new CandidateView(leads, asked.term(), asked.handingOver());
    return candidate(asked.in()).watch(poll, known, asked.waitMs());
  }

  private Future<AbandonedWatch> abandon(AbandonWatch asked, String poll) {
    PolledCandidate candidate = candidate(asked.in());
    if (poll == null) {
      throw Refusal.INVALID.error("the header '%s' must name a request", Frames.POLL);
    }
    candidate.abandon(poll);
    return Future.succeededFuture(new AbandonedWatch(asked.in().candidate()));
  }
}
