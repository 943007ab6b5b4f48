package dev.evenkeel.model;

import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.client.ConsumerOptions.Order;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Faults that the model must find. Each is a small change of the text of one source of the product,
 * so the product has no hooks for them. Many take away what once mended such a fault.
 */
enum PlantedFault {
  // ---- Retention, reshard and where a group begins

  /** Retention does not wait for groups that are paused or have no members. */
  RETENTION_FORGETS_GROUPS_WITHOUT_MEMBERS(
      "broker/decide/RetainDecider.java",
      new Focus(
          Set.of(Step.CONFIGURE_TOPIC, Step.LEAVE, Step.SEND),
          kind -> kind.earliest() && kind.mode() != Mode.BROADCAST),
      "leases.stream().mapToLong(Lease::floor)",
      "leases.stream().filter(Lease::owned).mapToLong(Lease::floor)",
      Promise.NOTHING_IS_LOST),

  /** A group begins with its first owner, some time after its members have joined. */
  LATEST_BEGINS_WITH_THE_FIRST_OWNER(
      "dispatcher/core/Subscriptions.java",
      new Focus(
          Set.of(Step.JOIN, Step.SEND), kind -> !kind.earliest() && kind.mode() != Mode.BROADCAST),
      "return state.level >= FeatureLevel.SUBSCRIPTIONS\n",
      "return state.level > FeatureLevel.SUBSCRIPTIONS\n",
      Promise.NOTHING_IS_LOST),

  /** A group that subscribes to a topic that was resharded reads it from the beginning. */
  LATEST_OF_A_RESHARDED_TOPIC_IS_EARLIEST(
      "dispatcher/core/Subscriptions.java",
      new Focus(Set.of(Step.RESHARD), kind -> !kind.earliest() && kind.mode() != Mode.BROADCAST),
      "boolean reads = false;",
      "boolean reads = topic.layouts().size() > 1;",
      Promise.FROM_LATEST),

  /** New shards begin before their keys are consumed in the former ones. */
  NEW_SHARDS_DO_NOT_WAIT_FOR_THEIR_PARENTS(
      "dispatcher/core/GroupState.java",
      new Focus(
          Set.of(Step.RESHARD, Step.SEND_MANY),
          kind -> kind.keepsOrder() && kind.order() == Order.KEY && kind.tag() == null),
      "if (lease == null || !lease.passed() || shards.state(each).reset != null) {",
      "if (lease == null) {",
      Promise.ORDER_OF_KEYS),

  /** Nobody moves delayed messages out of sealed shards. */
  DELAYED_MESSAGES_STAY_IN_SEALED_SHARDS(
      "broker/serve/DelayedMoves.java",
      new Focus(Set.of(Step.SEND_LATER, Step.RESHARD), any -> true),
      "if (topic != null && topic.isSealed(shard.shard())) {",
      "if (topic != null && !topic.isSealed(shard.shard())) {",
      Promise.NOTHING_IS_LOST),

  /** A new shard whose first messages are gone begins without the states of its parents. */
  STATES_OF_PARENTS_ARE_LOST(
      "client/internal/consume/ShardTakeover.java",
      new Focus(Set.of(Step.RESHARD), Kind::keepsState),
      "boolean begins = lease.state() == null || empty && lease.stateOffset() == 0;",
      "boolean begins = false;",
      Promise.NOTHING_IS_LOST,
      Promise.STATE_COMES_ALONG),

  /** A shard that is sealed before any message brought a state waits for one for ever. */
  A_SEALED_SHARD_WAITS_FOR_A_STATE(
      "client/internal/consume/ShardRelease.java",
      new Focus(Set.of(Step.RESHARD), kind -> kind.commitsState() && !kind.givesState()),
      "boolean nothing = shard.finishes() && (byCommits || stateMissing && done == 0);",
      "boolean nothing = shard.finishes() && byCommits && done == 0;",
      Promise.NOTHING_IS_LOST,
      Promise.STATE_COMES_ALONG,
      Promise.LAG),

  /** A spool takes what a former shard has refused for stored. */
  SPOOLS_ARE_DROPPED_AFTER_A_RESHARD(
      "client/internal/spool/SpoolReroute.java",
      // Frames wait behind many messages while there is a quota.
      new Focus(
          Set.of(Step.SEND_SPOOLED, Step.SET_QUOTA, Step.SEND_MANY, Step.RESHARD), any -> true),
      "byGroup.forEach((group, batches) -> sent.add(send(group, AppendBody.requests(batches), 0)));",
      "",
      Promise.NOTHING_IS_LOST),

  // ---- Order, retries and dead letters

  /** Messages pass those of their key that wait for another attempt. */
  RETRIES_LOSE_THE_ORDER_OF_THEIR_KEY(
      "client/internal/consume/ShardRetries.java",
      new Focus(Set.of(), PlantedFault::movesFailed),
      "return known != null && task.offset > known.firstOffset || stuck.has(task.keyHash);",
      "return stuck.has(task.keyHash);",
      Promise.ORDER_OF_KEYS),

  /** A message that failed leaves its place, though the whole shard is to keep its order. */
  RETRIES_LOSE_THE_ORDER_OF_THEIR_SHARD(
      "client/internal/consume/ShardFailures.java",
      new Focus(Set.of(), kind -> kind.keepsOrder() && kind.order() == Order.SHARD),
      "return !state && !options.isHoldFailed() && options.getOrder() != Order.SHARD;",
      "return !state && !options.isHoldFailed();",
      Promise.ORDER_OF_SHARDS),

  /** Another attempt counts as the one before it. */
  ATTEMPTS_ARE_NOT_COUNTED(
      "client/internal/consume/ShardRetries.java",
      new Focus(Set.of(), PlantedFault::movesFailed),
      "task.attempt = retry.attempts() + 1;",
      "task.attempt = Math.max(1, retry.attempts());",
      Promise.ATTEMPTS,
      Promise.ATTEMPT_NUMBERS),

  /** A message that keeps its place is tried for ever. */
  ATTEMPTS_IN_PLACE_ARE_NOT_COUNTED(
      "client/internal/consume/ShardFailures.java",
      new Focus(Set.of(), kind -> kind.triesAgain() && kind.order() == Order.SHARD),
      "          task.attempt++;\n",
      "",
      Promise.ATTEMPTS,
      Promise.ATTEMPT_NUMBERS),

  /** A message becomes a dead letter before its last attempt. */
  THE_LAST_ATTEMPT_IS_LEFT_OUT(
      "client/internal/consume/ShardFailures.java",
      new Focus(Set.of(), Kind::triesAgain),
      "if (task.attempt > delays.size()) {",
      "if (task.attempt >= delays.size()) {",
      Promise.LETTER_FACTS,
      Promise.NOTHING_IS_LOST),

  /** A message that kills its consumers goes on killing them. */
  DEADLY_MESSAGES_ARE_NO_DEAD_LETTERS(
      "client/internal/consume/ShardCare.java",
      new Focus(
          Set.of(Step.SEND_MANY, Step.JOIN, Step.EXPIRE),
          kind -> kind.care() && kind.mode() == Mode.SHARDED),
      "if (max > 0 && crashes.careful() && crashes.count() >= max && task.hopeless == null) {",
      "if (max > 0 && crashes.count() > 1_000 && task.hopeless == null) {",
      Promise.DEADLY,
      Promise.NOTHING_IS_LOST),

  /** What waits for another attempt stays, and so does the mark that it has left the window. */
  RESET_KEEPS_RETRIES(
      "broker/decide/LeaseDecider.java",
      new Focus(
          Set.of(Step.RESET_TO_EARLIEST, Step.RESET_TO_LATEST),
          kind -> kind.triesAgain() && kind.mode() == Mode.SHARDED),
      "changes.addAll(new FailureDecider(tables, store).reset(next));",
      "",
      Promise.NOTHING_IS_LOST,
      Promise.ONE_AT_A_TIME,
      Promise.ORDER_OF_KEYS),

  /** The leases of a deleted group are not removed. */
  DELETED_GROUPS_KEEP_THEIR_OFFSETS(
      "broker/decide/LeaseDecider.java",
      new Focus(
          Set.of(Step.DELETE_GROUP), kind -> kind.earliest() && kind.mode() != Mode.BROADCAST),
      "keys.forEach(key -> changes.add(new Change.RemoveLease(key)));",
      "",
      Promise.FROM_LATEST,
      Promise.NOTHING_IS_LOST,
      Promise.ANSWERS),

  // ---- Delayed messages

  /** A message that was cancelled is delivered all the same. */
  CANCELLED_MESSAGES_ARE_DELIVERED(
      "broker/decide/CancelDecider.java",
      new Focus(Set.of(Step.SEND_LATER, Step.CANCEL_DELAYED), any -> true),
      "return List.of(new Change.DropDelayed(key), without(key, batch.batch(), before));",
      "return List.of();",
      Promise.CANCELLED),

  /** What is due soon is delivered with what is due now. */
  DELAYED_MESSAGES_COME_EARLY(
      "broker/decide/DueDecider.java",
      new Focus(Set.of(Step.SEND_LATER), any -> true),
      "if (key.dueMillis() > nowMillis || batchesLeft",
      "if (key.dueMillis() > nowMillis + 400 || batchesLeft",
      Promise.IN_TIME),

  // ---- Pauses, filters and rates

  /**
   * What members have fetched is handled in a pause of its topic. In one of the whole group, they
   * begin nothing in any case.
   */
  A_PAUSE_DOES_NOT_STOP_WHAT_IS_FETCHED(
      "client/internal/consume/OwnedShard.java",
      new Focus(
          Set.of(Step.PAUSE_ONE_TOPIC, Step.SEND_MANY),
          kind ->
              kind.limit() != Kind.Limit.NONE && kind.mode() == Mode.SHARDED && !kind.atMostOnce()),
      "    boolean was = paused;\n    paused = environment.isPaused(shard());",
      "    boolean was = paused;\n    paused = false;",
      Promise.PAUSED),

  /** Members take all of a batch that the node has left whole. */
  FILTERS_TAKE_WHOLE_BATCHES(
      "client/internal/consume/Environment.java",
      new Focus(Set.of(), kind -> kind.tag() != null),
      "return filter == null || task.hopeless != null || filter.matches(task.message);",
      "return true;",
      Promise.FILTERED),

  /** A filter passes over batches that are compressed. */
  FILTERS_PASS_OVER_COMPRESSED_BATCHES(
      "broker/serve/FilteredBatches.java",
      new Focus(Set.of(Step.SEND_COMPRESSED), kind -> kind.tag() != null),
      "    if (from.baseOffset() + position < request.offset()) {",
      "    if (from.batch().isCompressed() || from.baseOffset() + position < request.offset()) {",
      Promise.NOTHING_IS_LOST),

  /** A message that starts takes no token of its group. */
  THE_RATE_OF_A_GROUP_IS_NOT_KEPT(
      "client/internal/admission/SharedTokens.java",
      new Focus(Set.of(Step.SEND_MANY), kind -> kind.limit() == Kind.Limit.GROUP_RATE),
      "      tokens--;\n",
      "",
      Promise.RATE),

  // ---- Dedup and delivery

  /** A message is declined in favour of the one at work, which began before it was there. */
  DEDUP_DECLINES_WHILE_NOBODY_WAITS(
      "dedup/Automaton.java",
      new Focus(Set.of(), kind -> kind.dedup() == Dedup.KEY),
      "    if (tail == null) {\n      claim.sinceMillis = nowMillis;\n      tail = claim;\n      return Answer.BLOCK;",
      "    if (tail == null) {\n      return Answer.DECLINE;",
      Promise.DEDUP_LATER,
      Promise.NOTHING_IS_LOST),

  /** A message begins while another one of its key is at work. */
  DEDUP_LETS_TWO_WORK(
      "client/internal/admission/DedupGate.java",
      new Focus(Set.of(Step.SEND_MANY), kind -> kind.dedup() == Dedup.KEY),
      "      case BLOCK -> {\n        asked--;",
      "      case BLOCK -> {\n        if (pass.task.shard() == 0) {\n          turned(pass);\n          return;\n        }\n        asked--;",
      Promise.DEDUP_ONE),

  /** With at most once, messages begin before they are committed. */
  AT_MOST_ONCE_IS_COMMITTED_LATE(
      "client/internal/consume/ShardMessages.java",
      new Focus(Set.of(Step.EXPIRE, Step.JOIN, Step.SEND_MANY), Kind::atMostOnce),
      "    if (environment.atMostOnce) {\n      startable = offset;\n    }",
      "",
      Promise.AT_MOST_ONCE),

  /** A batch that is sent again is stored again. */
  BATCHES_ARE_STORED_TWICE(
      "broker/decide/AppendDecider.java",
      new Focus(Set.of(Step.RESTART_NODE, Step.SEND_MANY), any -> true),
      "if (first == next || ring == null) {",
      "if (first <= next) {",
      Promise.STORED_ONCE),

  /** A state is taken for that of all that was consumed. */
  STATES_ARE_OLDER_THAN_THEIR_OFFSET(
      "client/internal/consume/ShardTakeover.java",
      new Focus(Set.of(Step.EXPIRE, Step.SEND), Kind::keepsState),
      "beginOffset = given ? lease.stateOffset() : lease.committed();",
      "beginOffset = lease.committed();",
      Promise.NOTHING_IS_LOST,
      Promise.STATE_COMES_ALONG,
      Promise.STATE_IS_EXACT),

  /** What handlers publish again is stored again. */
  OUTPUTS_ARE_PUBLISHED_TWICE(
      "broker/decide/AppendDecider.java",
      new Focus(
          Set.of(Step.EXPIRE, Step.SEND_MANY),
          kind -> kind.handling() == Kind.Handling.EXACT_OUTPUTS),
      "return above ? TAKE : new Result(null, Result.OFFSET_FORGOTTEN);",
      "return TAKE;",
      Promise.OUTPUTS_ONCE),

  /** What an attempt published that has failed is published with the next attempt. */
  OUTPUTS_OF_FAILED_ATTEMPTS_ARE_PUBLISHED(
      "client/internal/consume/Task.java",
      new Focus(Set.of(), kind -> kind.handling() == Kind.Handling.EXACT_OUTPUTS),
      "    effects = new Effects();\n",
      "    effects = effects == null ? new Effects() : effects;\n",
      Promise.OUTPUTS_ONCE,
      Promise.OUTPUTS),

  /** A message is done though the log has refused what its handler published. */
  OUTPUTS_THAT_FAIL_ARE_LOST(
      "client/internal/consume/ShardOutputs.java",
      new Focus(Set.of(Step.RESTART_NODE, Step.SEND_MANY), Kind::publishes),
      "      queue.again(request, now + log.pause(\"its outputs cannot be published\", refused));",
      "      queue.taken(request).forEach(task -> done.accept(task, now));",
      Promise.OUTPUTS,
      Promise.NOTHING_IS_LOST),

  // ---- Quotas and sessions

  /** A sender that waits for a quota pays again and again. */
  QUOTAS_LEAVE_DEBTS(
      "broker/quota/QuotaGate.java",
      new Focus(Set.of(Step.SET_QUOTA, Step.SEND_MANY), any -> true),
      "                  releaseAfter(given.delayNanos(), parts);",
      "                  releaseAfter(given.delayNanos() + 2_000_000_000L, parts);",
      Promise.QUOTA_WAITS,
      Promise.ANSWERS),

  /** A node believes results whatever their epoch. */
  RESULTS_OF_AN_OLD_EPOCH_COUNT(
      "client/internal/member/HandlerStream.java",
      new Focus(Set.of(Step.JOIN_OVER_HTTP), any -> true),
      "    return waiting == null ? null : waiting.delivery();",
      "    if (waiting == null) {\n      return unfinished().stream()\n          .filter(each -> each.offset() == offset && each.shard() == shard)\n          .findFirst()\n          .orElse(null);\n    }\n    return waiting.delivery();",
      Promise.OLD_EPOCHS),

  /** The id from the sending of a delayed message is not known after a reshard. */
  MOVED_MESSAGES_CANNOT_BE_CANCELLED(
      "broker/serve/DelayedMoves.java",
      new Focus(Set.of(Step.SEND_LATER, Step.RESHARD, Step.CANCEL_DELAYED), any -> true),
      "return serve.node().meta().tables().featureLevel() >= FeatureLevel.MOVED_IDS;",
      "return false;",
      Promise.CANCELLED_OR_DELIVERED),

  /** A node keeps the sessions that have ended. */
  SESSIONS_LEAK(
      "gateway/OwnedByGateway.java",
      new Focus(Set.of(Step.JOIN_OVER_HTTP), any -> true),
      "    Held<T> ended = owned.remove(id);\n",
      "    Held<T> ended = owned.get(id);\n",
      Promise.NOTHING_IS_LEFT),

  /** A client keeps the producers and consumers that it has closed. */
  CLIENTS_KEEP_WHAT_IS_CLOSED(
      "client/internal/EvenkeelClientImpl.java",
      Focus.CALM,
      "    ((Ending) one).over().onComplete(ended -> started.remove(one));\n",
      "",
      Promise.NOTHING_IS_LEFT),

  // ---- Modes

  /** A member in mode broadcast does not store what it has handled. */
  BROADCAST_FORGETS_ITS_OFFSETS(
      "client/internal/broadcast/BroadcastPositions.java",
      new Focus(
          Set.of(Step.LEAVE, Step.JOIN),
          kind -> kind.mode() == Mode.BROADCAST && kind.order() == Order.SHARD),
      "nextOf(shard).computeIfPresent(shard.shard(), (any, before) -> Math.max(before, next));",
      "nextOf(shard).computeIfPresent(shard.shard(), (any, before) -> before);",
      Promise.NOT_AGAIN),

  /** A shard is given away without what was consumed since its last commit. */
  A_RELEASE_FORGETS_WHAT_IS_FINISHED(
      "broker/decide/LeaseDecider.java",
      new Focus(Set.of(Step.LEAVE, Step.JOIN, Step.SEND_MANY), Kind::repeatsNothing),
      "long committed = Math.max(lease.committed(), command.offset());\n    byte[] state = command.state();",
      "long committed = lease.committed();\n    byte[] state = command.state();",
      Promise.NOT_AGAIN,
      Promise.NOTHING_IS_LOST),

  /** A member in mode broadcast begins at the end of shards that are new to it. */
  BROADCAST_BEGINS_LATE_IN_NEW_SHARDS(
      "client/internal/broadcast/BroadcastPositions.java",
      new Focus(Set.of(Step.RESHARD), kind -> kind.mode() == Mode.BROADCAST && !kind.earliest()),
      "            : EARLIEST;",
      "            : start;",
      Promise.NOTHING_IS_LOST),

  /** A message that a member had in hand when it died goes to nobody. */
  LEVEL_FORGETS_MESSAGES_OF_THE_DEAD(
      "dispatcher/level/core/Deliveries.java",
      new Focus(Set.of(Step.EXPIRE, Step.SEND_MANY), kind -> kind.mode() == Mode.LEVEL),
      "      (item.isCareful() ? careful : again).add(item);\n    }\n  }\n\n  /** While",
      "      out.accept(new LevelAction.Finished(item.ticket));\n    }\n  }\n\n  /** While",
      Promise.NOTHING_IS_LOST),

  /** What is consumed in the memory of a member counts as not consumed. */
  THE_LAG_IS_TOO_HIGH(
      "dispatcher/GroupReport.java",
      Focus.CALM,
      "long next = position == null ? committed() : position;",
      "long next = position == null ? committed() : position - 1;",
      Promise.NOTHING_IS_LOST,
      Promise.LAG),

  // ---- Elections, dedups, coordinators and addresses

  /** The next leader begins while the one before hands over. */
  ELECTIONS_DO_NOT_WAIT_FOR_THE_HANDOVER(
      "dispatcher/core/Leading.java",
      new Focus(Set.of(Step.STAND_FOR_ELECTION, Step.LEAVE_ELECTION), any -> true),
      "return nowMillis >= handoverEndMillis ? next : null;",
      "return next;",
      Promise.ELECTION_ENDS_FIRST,
      Promise.ELECTION_STOPS),

  /** The terms of an election that was deleted and comes back begin anew. */
  ELECTIONS_THAT_COME_BACK_USE_TERMS_AGAIN(
      "broker/decide/GroupDecider.java",
      new Focus(Set.of(Step.STAND_FOR_ELECTION, Step.LEAVE_ELECTION), any -> true),
      "lease = new GroupLease(lease.group(), tables.counters().termFloor(), null, null);",
      "lease = new GroupLease(lease.group(), 0, null, null);",
      Promise.ELECTION_TERMS,
      Promise.ELECTION_STOPS,
      Promise.TERMS_GROW),

  /** A candidate that is cut off takes itself for the leader, and another one leads. */
  LEADERS_THAT_ARE_CUT_OFF_ARE_SURE(
      "client/internal/member/Leaderships.java",
      new Focus(Set.of(Step.STAND_FOR_ELECTION, Step.HANG_CLIENT), any -> true),
      "return !over && !handingOver && mayStart.getAsBoolean();",
      "return !over && !handingOver;",
      Promise.ELECTION_STOPS),

  /** A claim that waits is told that it works. */
  CLAIMS_THAT_WAIT_BEGIN(
      "dedup/ClusteredCoordinator.java",
      new Focus(Set.of(Step.CLAIM_KEYS), any -> true),
      "        ticket.stage = SharedTicket.Stage.WAITING;\n        yield null;",
      "        ticket.stage = SharedTicket.Stage.AT_WORK;\n        yield Answer.ACCEPT;",
      Promise.DEDUP_SERVICE_ONE,
      Promise.DEDUP_SERVICE_HELD),

  /** A claim that works for too long relies on its key after another one has got it. */
  LOST_CLAIMS_STAY_HELD(
      "dedup/LeasedCoordinator.java",
      new Focus(Set.of(Step.CLAIM_KEYS), any -> true),
      "        && isOf(claim, now)\n        && nowMillis - claim.ticket.sinceMillis < headMillisMax - spare;",
      "        && isOf(claim, now)\n        && nowMillis - spare > 0;",
      Promise.DEDUP_SERVICE_ONE),

  /** A track takes one step more than it may. */
  TRACKS_GO_TOO_FAR(
      "client/internal/level/StepClaim.java",
      new Focus(Set.of(Step.MAKE_TRACK, Step.MOVE_TRACKS), any -> true),
      "      if (steps >= limit) {",
      "      if (steps > limit) {",
      Promise.TRACKS_LEVEL),

  /** A track that comes begins ahead of others. */
  TRACKS_BEGIN_AHEAD(
      "dispatcher/core/StepLimits.java",
      new Focus(Set.of(Step.MAKE_TRACK, Step.MOVE_TRACKS), any -> true),
      "    seat.steps = fewest();\n    seat.from",
      "    seat.steps = fewest() + range;\n    seat.from",
      Promise.TRACKS_BEGIN,
      Promise.TRACKS_LEVEL),

  /** The others wait for a track that says nothing any more. */
  TRACKS_WAIT_FOR_THE_DEAD(
      "dispatcher/core/StepLimits.java",
      new Focus(Set.of(Step.MAKE_TRACK, Step.MOVE_TRACKS, Step.KILL_CLIENT), any -> true),
      "      if (nowMillis >= seat.untilMillis) {",
      "      if (nowMillis >= seat.untilMillis + 1_000_000_000L) {",
      Promise.TRACKS_GO_ON),

  /** A listener says that it has failed, and the message is done. */
  FAILURES_AT_AN_ADDRESS_ARE_DONE(
      "client/internal/member/AddressHandler.java",
      new Focus(Set.of(Step.JOIN_AT_ADDRESS), Kind::goesOverHttp),
      "    return failed(\"'%s' failed: %s\", why == null ? \"it gave no reason\" : why);",
      "    return Future.succeededFuture();",
      Promise.NOTHING_IS_LOST),

  /** While nobody listens at an address, messages use up their attempts. */
  ABSENCE_AT_AN_ADDRESS_COUNTS_AS_A_FAILURE(
      "client/internal/member/AddressHandler.java",
      new Focus(Set.of(Step.JOIN_AT_ADDRESS, Step.LISTENERS_GO), Kind::goesOverHttp),
      "      nobodyListens();\n      return Future.failedFuture(nobody);",
      "      return failed(\"%s: %s\", \"nobody\");",
      Promise.DEAD_LETTERS,
      Promise.NOTHING_IS_LOST),

  /** The name of a member is its user's for good. */
  NO_OTHER_USER_TAKES_THE_NAME_OF_A_MEMBER(
      "dispatcher/core/MemberTable.java",
      new Focus(Set.of(Step.TAKE_NAME, Step.JOIN), kind -> kind.mode() == Mode.SHARDED),
      "    Member member = live.get(beat.member());\n"
          + "    if (member != null && member.instance().equals(instance)) {",
      "    Member member = live.get(beat.member());\n    if (member != null) {",
      Promise.ANSWERS);

  /** The source below {@code src/main/java/dev/evenkeel}. */
  final String file;

  /** Runs that look at this find it sooner. */
  final Focus focus;

  /** What is there, once. */
  final String product;

  /** What is there instead. */
  final String planted;

  /** What it breaks: a run must end with one of them. */
  final Set<Promise> breaks;

  /** Whether messages that fail leave their place, and others of their key wait for them. */
  private static boolean movesFailed(Kind kind) {
    boolean single =
        kind.handling() == Kind.Handling.SINGLE || kind.handling() == Kind.Handling.WORKER;
    return single && kind.mode() == Mode.SHARDED && kind.keepsOrder() && kind.order() == Order.KEY;
  }

  PlantedFault(String file, Focus focus, String product, String planted, Promise... breaks) {
    this.file = file;
    this.focus = focus;
    this.product = product;
    this.planted = planted;
    Set<Promise> all = EnumSet.copyOf(List.of(breaks));
    if (all.contains(Promise.NOTHING_IS_LOST)) {
      // Such a message is missed first where a later one begins, or is committed.
      all.addAll(Set.of(Promise.ORDER_OF_KEYS, Promise.ORDER_OF_SHARDS, Promise.COMMITTED));
    }
    this.breaks = all;
  }
}
