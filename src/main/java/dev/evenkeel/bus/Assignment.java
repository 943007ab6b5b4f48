package dev.evenkeel.bus;

import dev.evenkeel.api.Inline;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.Skipped;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Collection;
import java.util.List;

/**
 * All shards that a member owns according to the log. The dispatcher answers each heartbeat with
 * one, and pushes one when it changes. Of two assignments, the one with the higher (term, revision)
 * is the later.
 *
 * @param term of the dispatcher
 * @param revision grows with each assignment of the dispatcher in this term
 * @param shards every shard that the member owns
 * @param lead in mode singleton, set if the member leads the group; otherwise null
 * @param unchanged the member has {@link Heartbeat#seen} this assignment: its shards and {@code
 *     lead} are left out
 * @param coming shards that others are giving away to this member: it may already ask for their
 *     messages
 * @param groupRate in answers to heartbeats: the rate at which all members of the group together
 *     may start messages, for people; null: there is none
 * @param pauses what is paused of the group; null: the dispatcher is of a version that does not say
 *     it
 * @param opening in answers to heartbeats: the group has no lease yet on some shards of the topics
 *     that the member reads
 * @param place where a track of a coordinator may go; null for all other members
 */
public record Assignment(
    String group,
    String member,
    String instance,
    long term,
    long revision,
    List<Owned> shards,
    Lead lead,
    boolean unchanged,
    List<Coming> coming,
    String groupRate,
    List<Paused> pauses,
    boolean opening,
    StepPlace place) {

  /** Most shards that are named as coming. */
  public static final int COMING_MAX = 64;

  private static final RecordJson<Origin> ORIGIN =
      new RecordJson<>(Origin.class)
          .list("parents", Integer.MAX_VALUE, parent -> parent, JsonArray::getInteger)
          .list("heirOf", Integer.MAX_VALUE, parent -> parent, JsonArray::getInteger);
  private static final RecordJson<Owned> OWNED =
      new RecordJson<>(Owned.class)
          .former("committed", -1L)
          .object("origin", ORIGIN::write, ORIGIN::read)
          .object("crashes", LeaseChange.CRASHES::write, LeaseChange.CRASHES::read)
          .object("skipped", LeaseChange.SKIPPED::write, LeaseChange.SKIPPED::read);
  private static final RecordJson<Lead> LEAD = new RecordJson<>(Lead.class);
  private static final RecordJson<Coming> COMING = new RecordJson<>(Coming.class);
  private static final RecordJson<Paused> PAUSED = new RecordJson<>(Paused.class);
  private static final RecordJson<Assignment> JSON =
      new RecordJson<>(Assignment.class)
          .list("shards", Integer.MAX_VALUE, OWNED::write, OWNED::readItem)
          .object("lead", LEAD::write, LEAD::read)
          .unless("unchanged", false)
          .list("coming", COMING_MAX, COMING::write, COMING::readItem)
          .unless("coming", List.of())
          .unless("groupRate", null)
          .list("pauses", Pause.PAUSES_MAX, PAUSED::write, PAUSED::readItem)
          .unless("pauses", null)
          .unless("opening", false)
          .object("place", StepPlace.JSON::write, StepPlace.JSON::read)
          .unless("place", null);

  /** An assignment with all that the member owns. */
  public Assignment(
      String group,
      String member,
      String instance,
      long term,
      long revision,
      List<Owned> shards,
      Lead lead) {
    this(
        group, member, instance, term, revision, shards, lead, false, List.of(), null, null, false,
        null);
  }

  /** This assignment of a track; null: of another member. */
  public Assignment withPlace(StepPlace its) {
    return new Assignment(
        group, member, instance, term, revision, shards, lead, unchanged, coming, groupRate, pauses,
        opening, its);
  }

  /** The same as a later one. */
  public Assignment at(long later) {
    return new Assignment(
        group, member, instance, term, later, shards, lead, unchanged, coming, groupRate, pauses,
        opening, place);
  }

  /** This assignment for a member that has seen it. */
  public Assignment asUnchanged() {
    return with(List.of(), null, true, List.of(), groupRate, pauses, opening);
  }

  /** This assignment, with what comes next. */
  public Assignment withComing(List<Coming> next) {
    return with(shards, lead, unchanged, next, groupRate, pauses, opening);
  }

  /** This assignment, with the rate of the group. */
  public Assignment withGroupRate(String rate) {
    return rate == null ? this : with(shards, lead, unchanged, coming, rate, pauses, opening);
  }

  /** This assignment, while leases are being opened. */
  public Assignment asOpening() {
    return with(shards, lead, unchanged, coming, groupRate, pauses, true);
  }

  private Assignment with(
      List<Owned> newShards,
      Lead newLead,
      boolean newUnchanged,
      List<Coming> newComing,
      String newGroupRate,
      List<Paused> newPauses,
      boolean newOpening) {
    return new Assignment(
        group,
        member,
        instance,
        term,
        revision,
        newShards,
        newLead,
        newUnchanged,
        newComing,
        newGroupRate,
        newPauses,
        newOpening,
        place);
  }

  /** This assignment, with what is paused of the group. */
  public Assignment withPauses(Collection<Pause> paused) {
    List<Paused> named =
        paused.stream().map(each -> new Paused(each.topicId(), each.shard())).toList();
    return with(shards, lead, unchanged, coming, groupRate, named, opening);
  }

  /** Shards from which the group gets no messages; the numbers are those of {@link Pause}. */
  public record Paused(int topicId, int shard) {}

  /**
   * A shard whose owner hands it over to this member.
   *
   * @param epoch of the lease that this member will get
   */
  public record Coming(@Inline Shard shard, long epoch) {}

  /**
   * The member holds the lease of its group, and so leads it.
   *
   * @param term of the group's lease, which is not that of the dispatcher
   * @param whole all shards of the topics that it reads were granted to it at this term
   * @param ending this member must hand over, because another one shall lead or all shards are
   *     reset
   */
  public record Lead(long term, boolean whole, boolean ending) {
    public Lead asEnding() {
      return new Lead(term, whole, true);
    }
  }

  /**
   * @param topic name of the topic
   * @param epoch of the lease
   * @param draining the member must release the shard
   * @param deadlineMillis if draining, when the member loses the shard anyway, in milliseconds
   *     since 1970
   * @param committed the lease's committed offset when it was granted, or -1 if that is not known.
   *     A member that has not held this epoch before and keeps no state begins there without
   *     reading the lease
   * @param origin where its keys come from; null if the number of the topic's shards has not
   *     changed since the shard exists, or the former shards are gone
   * @param crashes owners that had died without progress of the group when the lease was granted;
   *     null: none
   * @param skipped what limits of the topic had dropped, when the lease was granted, before the
   *     group had consumed it; null: nothing
   */
  public record Owned(
      String topic,
      @Inline Shard shard,
      long epoch,
      boolean draining,
      long deadlineMillis,
      long committed,
      Origin origin,
      Crashes crashes,
      Skipped skipped) {

    /** A shard of which nothing special is known. */
    public Owned(
        String topic,
        Shard shard,
        long epoch,
        boolean draining,
        long deadlineMillis,
        long committed) {
      this(topic, shard, epoch, draining, deadlineMillis, committed, null, null, null);
    }
  }

  /**
   * A shard that was opened when the number of its topic's shards changed.
   *
   * @param parents numbers of the sealed shards from which keys have come to this one
   * @param heirOf those of them of which this shard is the heir: of each exactly one is
   * @param first number of the first shard that was opened together with it
   * @param shards how many were
   */
  public record Origin(List<Integer> parents, List<Integer> heirOf, int first, int shards) {}

  public boolean laterThan(long otherTerm, long otherRevision) {
    return term > otherTerm || term == otherTerm && revision > otherRevision;
  }

  public JsonObject toJson() {
    return JSON.write(this);
  }

  public static Assignment fromJson(JsonObject json) {
    return JSON.read(json);
  }
}
