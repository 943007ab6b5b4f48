package dev.evenkeel.protocol.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Every record survives its bytes, and bytes that are none cost a refusal only. */
class CodecTest {
  private static final Shard SHARD = new Shard(7, 3);
  private static final TopicConfig CONFIG = new TopicConfig(1000, -1, 1 << 30);

  private static final List<MetaCommand> META =
      List.of(
          new MetaCommand.CreateTopic("t", 12, CONFIG),
          new MetaCommand.ActivateTopic(5, null),
          new MetaCommand.ActivateTopic(5, List.of()),
          new MetaCommand.ActivateTopic(5, List.of("g", "h")),
          new MetaCommand.OpenLayout(5, null),
          new MetaCommand.OpenLayout(5, List.of("g")),
          new MetaCommand.ConfigureTopic(5, CONFIG),
          new MetaCommand.DeleteTopic("t"),
          new MetaCommand.RemoveTopic(5, 0),
          new MetaCommand.RemoveTopic(5, 9),
          Commands.declareGroup("g", GroupPolicy.SHARDED, List.of("a", "b"), StartAt.LATEST, true),
          new MetaCommand.DeclareGroup(
              "g",
              GroupPolicy.SHARDED,
              List.of("a"),
              StartAt.EARLIEST,
              false,
              "average",
              List.of()),
          new MetaCommand.DeclareGroup(
              "g",
              new GroupPolicy("level", 7, "push", "key"),
              List.of("a"),
              StartAt.EARLIEST,
              false,
              "average",
              List.of()),
          Commands.declareGroup(
              "g", new GroupPolicy("sharded", 0, null, "payload"), List.of(), StartAt.LATEST, true),
          new MetaCommand.GrantGroupLease("g", "dispatcher@n1", "i", 4, 0),
          new MetaCommand.GrantGroupLease("g", "dispatcher@n1", "i", 4, 9),
          new MetaCommand.ReleaseGroupLease("g", "i", 5),
          new MetaCommand.SeeGroup("g", List.of("t", "u"), List.of()),
          new MetaCommand.SeeGroup("g", List.of(), List.of(new GroupPattern("t*", null))),
          new MetaCommand.DeclareGroup(
              "g",
              GroupPolicy.SHARDED,
              List.of("a"),
              StartAt.EARLIEST,
              false,
              null,
              List.of(new GroupPattern("t*", null), new GroupPattern("u.*", List.of("u.a*")))),
          new MetaCommand.AddActiveTime(60_000),
          new MetaCommand.ForgetGroup("g"),
          new MetaCommand.ForgetTopic("g", "t"),
          new MetaCommand.ForgetPattern("g", new GroupPattern("u.*", List.of("u.a*"))),
          new MetaCommand.RegisterProducer(""),
          new MetaCommand.ContinueProducer("p", 3),
          new MetaCommand.RecordMoves(
              List.of(
                  new MoveRecord(
                      123, "g", "t", SHARD, "a", "b", "member joined", 5L, 0L, 7L, true, 3, 99L),
                  new MoveRecord(
                      124, "g", "t", SHARD, null, "b", null, null, null, null, false, 1, null))));

  private static final List<DataCommand> DATA =
      List.of(
          Commands.openShards(7, "t", List.of(0, 2, 4), CONFIG),
          new DataCommand.OpenShards(7, "t", List.of(0, 2, 4), CONFIG, 12, List.of(), 0),
          new DataCommand.OpenShards(7, "t", List.of(4, 5), CONFIG, 12, List.of("g", "h"), 4),
          new DataCommand.OpenLease("g", SHARD, StartAt.LATEST),
          new DataCommand.TakeSteps(
              List.of(new DataCommand.OpenLease("g", SHARD, StartAt.EARLIEST))),
          new DataCommand.DropShards(7),
          new DataCommand.ConfigureShards(7, CONFIG),
          Commands.grant("g", SHARD, "m", "i", 4, StartAt.timestamp(99)),
          Commands.grant("g", SHARD, "m", "i", 4, StartAt.EARLIEST, 9),
          new DataCommand.Grant("g", SHARD, "m", "i", 4, StartAt.EARLIEST, 0, 30_000),
          new DataCommand.SetDrain("g", SHARD, 4, new Drain("n", 50)),
          new DataCommand.SetDrain("g", SHARD, 4, new Drain("n", 50, new Drain.Heir("n-1", 7))),
          new DataCommand.SetDrain("g", SHARD, 4, null),
          new DataCommand.CommitMany(
              List.of(
                  new DataCommand.CommitMany.Position("g", SHARD, 4, 100, -1),
                  new DataCommand.CommitMany.Position("h", SHARD, 5, 3, 0))),
          new DataCommand.TakeSteps(
              List.of(
                  new DataCommand.Grant("g", SHARD, "m", "i", 4, StartAt.EARLIEST, 0, 30_000),
                  new DataCommand.SetDrain("g", SHARD, 4, null),
                  new DataCommand.SetDrain("g", SHARD, 4, new Drain("n", 5)),
                  new DataCommand.SetDrain(
                      "g", SHARD, 4, new Drain("n", 5, new Drain.Heir("n-1", 7))),
                  new DataCommand.ResetLease("h", SHARD, 4, StartAt.offset(7)))),
          Commands.commit("g", SHARD, 4, 100),
          Commands.commit("g", SHARD, 4, 100, 0),
          new DataCommand.ResetLease("g", SHARD, 4, StartAt.offset(7)),
          new DataCommand.SetPublisher("g", SHARD, 4, 99),
          new DataCommand.OpenPublisher(99, 4, "g", SHARD, true),
          Commands.forgetLeases("g"),
          Commands.forgetLeases("g", 7),
          new DataCommand.ForgetLeases("g", 7, 3),
          new DataCommand.OpenProducer(9, 2),
          new DataCommand.Retain(),
          new DataCommand.FillLog(null));

  /** Else a node of a former version would meet an entry that it cannot read, and not say so. */
  @Test
  void aFormThatIsNewNamesItsLevel() {
    List<GroupPattern> patterns = List.of(new GroupPattern("t*", null));
    DataCommand opens = new DataCommand.OpenLease("g", SHARD, StartAt.LATEST);
    assertThat(
            List.of(
                    new MetaCommand.ActivateTopic(5, List.of()),
                    new MetaCommand.OpenLayout(5, List.of()),
                    new MetaCommand.SeeGroup("g", List.of(), patterns),
                    new MetaCommand.ForgetPattern("g", patterns.get(0)),
                    new MetaCommand.ContinueProducer("p", 3),
                    new MetaCommand.DeclareGroup(
                        "g", GroupPolicy.SHARDED, List.of(), StartAt.LATEST, false, null, patterns))
                .stream()
                .map(CommandCodec::level))
        .containsOnly(10);
    assertThat(
            List.of(
                    opens,
                    new DataCommand.TakeSteps(List.of((DataCommand.Step) opens)),
                    new DataCommand.OpenShards(5, "t", List.of(1), CONFIG, 0, List.of("g"), 1),
                    new DataCommand.RecordOutcomes(
                        "g", SHARD, 3, List.of(new Outcome.Begun(4, false))),
                    new DataCommand.RecordOutcomes(
                        "g", SHARD, 3, List.of(new Outcome.Died(4, 2, 7))),
                    new DataCommand.DropSealed(5, 4, 2))
                .stream()
                .map(CommandCodec::level))
        .containsOnly(10);
    assertThat(
            CommandCodec.level(new DataCommand.DropSealed(5, 4, DataCommand.DropSealed.EVERYTHING)))
        .isEqualTo(8);
  }

  @Test
  void commands() {
    for (MetaCommand command : META) {
      Entry entry = Entry.read(ByteBuffer.wrap(Entry.of(command, 123)));
      assertThat(entry.type()).isEqualTo(Entry.META_COMMAND);
      assertThat(entry.nowMillis()).isEqualTo(123);
      assertThat(CommandCodec.meta(new ByteReader(entry.body()))).isEqualTo(command);
    }
    for (DataCommand command : DATA) {
      Entry entry = Entry.read(ByteBuffer.wrap(Entry.of(command, 123)));
      assertThat(entry.type()).isEqualTo(Entry.DATA_COMMAND);
      assertThat(CommandCodec.data(new ByteReader(entry.body()))).isEqualTo(command);
    }
  }

  @Test
  void aReleaseCarriesItsState() {
    var release = new DataCommand.Release("g", SHARD, 4, 100, 100, new byte[] {1, 2, 3});
    Entry entry = Entry.read(ByteBuffer.wrap(Entry.of(release, 1)));
    assertThat(CommandCodec.data(new ByteReader(entry.body())))
        .usingRecursiveComparison()
        .isEqualTo(release);
  }

  @Test
  void replies() {
    Lease lease =
        Commands.lease("g", SHARD, 5, "m", "i", 100, 90, new byte[] {1}, new Drain("n", 1234));
    List<Reply> replies =
        List.of(
            Reply.DONE,
            Reply.refused(Refusal.FENCED, "epoch 4 is over"),
            new Reply.OfTopic(new TopicInfo(1, "t", 4, CONFIG, TopicInfo.State.ACTIVE, 5)),
            new Reply.OfGroup(Commands.group("g", GroupPolicy.SHARDED, List.of("t"), 2, "average")),
            new Reply.OfLease(lease),
            new Reply.OfLease(Commands.lease("g", SHARD, 0, null, null, 0, -1, null, null)),
            new Reply.OfLease(
                new Lease(
                        "g",
                        SHARD,
                        5,
                        "m",
                        "i",
                        100,
                        -1,
                        null,
                        null,
                        8,
                        Generation.FIRST,
                        Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT,
                        Lease.Stage.CONSUMING,
                        null,
                        null)
                    .reset(3)),
            new Reply.OfLease(
                Commands.lease("g", SHARD, 5, "m", "i", 9, -1, null, null).publishingAs(77)),
            new Reply.OfLease(
                Commands.lease("g", SHARD, 5, "m", "i", 9, -1, null, null)
                    .granted("n", "j", 4, 30_000)),
            new Reply.OfLease(
                new Lease(
                    "g",
                    SHARD,
                    5,
                    "m",
                    "i",
                    100,
                    -1,
                    null,
                    new Drain("n", 12),
                    8,
                    Generation.FIRST,
                    Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT,
                    Lease.Stage.CONSUMING,
                    null,
                    null)),
            new Reply.OfLease(
                Commands.lease("g", SHARD, 5, null, null, 9, 9, new byte[2], null)
                    .at(Lease.Stage.FINISHED)),
            new Reply.OfLease(
                Commands.lease("g", SHARD, 5, null, null, 9, -1, null, null)
                    .at(Lease.Stage.FINISHED)
                    .granted("n", "j", 4, 30_000)),
            new Reply.OfTopic(
                new TopicInfo(1, "t", 4, CONFIG, TopicInfo.State.ACTIVE, 5).opening(12, List.of())),
            new Reply.OfTopic(
                new TopicInfo(1, "t", 4, List.of(3, 0, 1), CONFIG, TopicInfo.State.CREATING, 5)),
            new Reply.OfTopic(
                new TopicInfo(1, "t", 4, CONFIG, TopicInfo.State.ACTIVE, 5)
                    .opening(12, List.of())
                    .opened(7)
                    .opening(3, List.of(4, 2))),
            new Reply.OfTopic(
                new TopicInfo(1, "t", 4, CONFIG, TopicInfo.State.ACTIVE, 5)
                    .opening(12, List.of())
                    .opened(7)
                    .withoutOldest(false)),
            new Reply.OfGroup(
                Commands.group(
                    "g", new GroupPolicy("level", 7, "push", "key"), List.of("t"), 2, "average")),
            new Reply.OfGroup(
                Commands.group("g", GroupPolicy.SHARDED, List.of("t"), 2, "average")
                    .seenAt(9, List.of("u"))),
            new Reply.OfLease(
                Commands.lease(
                    "g",
                    SHARD,
                    5,
                    "m",
                    "i",
                    100,
                    -1,
                    null,
                    new Drain("n", 12, new Drain.Heir("n-1", 30_000)))),
            new Reply.OfCommits(
                List.of(new Reply.OfCommits.RefusedCommit(3, Refusal.FENCED, "epoch 4 is over"))),
            new Reply.OfSteps(
                List.of(
                    Reply.refused(Refusal.FENCED, "epoch 4 is over"),
                    new Reply.OfLease(Lease.fresh("g", SHARD, 3, 7, Generation.FIRST)))),
            new Reply.OfNumber(42),
            new Reply.OfGroupLease(GroupLease.none("g")),
            new Reply.OfGroupLease(new GroupLease("g", 3, "dispatcher@n1", "i")),
            new Reply.OfProducer(3, 1),
            new Reply.OfSequences(Map.of(SHARD, 17L)));
    for (Reply reply : replies) {
      assertThat(ReplyCodec.decode(ByteBuffer.wrap(ReplyCodec.encode(reply))))
          .usingRecursiveComparison()
          .isEqualTo(reply);
    }
  }

  @Test
  void aLeaseWithoutATermHasTheShortestForm() {
    Bytes lease = new Bytes().text("g");
    RecordCodec.write(lease, SHARD);
    lease.i64(5).text("m").text("i").i64(100).i64(-1).blob(null).bool(false);
    Bytes written = new Bytes();
    RecordCodec.write(written, Commands.lease("g", SHARD, 5, "m", "i", 100, -1, null, null));
    assertThat(written.toArray()).isEqualTo(lease.toArray());
    assertThat(RecordCodec.lease(new ByteReader(lease.toArray())).groupTerm()).isZero();
  }

  @Test
  void aGroupOfALaterFormIsRefused() {
    byte[] later = new Bytes().u8(3).text("g").toArray();
    Fails.saying(() -> RecordCodec.GROUP.decode(later), "unknown form of a group's record 3");
  }

  @Test
  void resultsOfAnAppend() {
    AppendResults results =
        new AppendResults(
            77,
            List.of(
                new AppendResults.Result(null, 1000),
                new AppendResults.Result(Refusal.SEQUENCE_GAP, 3),
                new AppendResults.Result(null, AppendResults.Result.OFFSET_FORGOTTEN)));
    assertThat(AppendResults.decode(ByteBuffer.wrap(results.encode()))).isEqualTo(results);
    assertThat(results.share(1, 2).results()).containsExactly(results.results().get(1));
  }

  @Test
  void everyRefusalKeepsItsCode() {
    for (Refusal refusal : Refusal.values()) {
      assertThat(Refusal.ofCode(refusal.ordinal())).isEqualTo(refusal);
    }
    assertThat(Refusal.ofCode(200)).isEqualTo(Refusal.INVALID);
  }

  @Property(tries = 3000)
  void garbageIsRefused(@ForAll byte[] garbage) {
    refusedOrRead(() -> CommandCodec.meta(new ByteReader(garbage)));
    refusedOrRead(() -> CommandCodec.data(new ByteReader(garbage)));
    refusedOrRead(() -> ReplyCodec.decode(ByteBuffer.wrap(garbage)));
    refusedOrRead(() -> AppendResults.decode(ByteBuffer.wrap(garbage)));
    refusedOrRead(() -> Entry.read(ByteBuffer.wrap(garbage)));
  }

  /** One byte of a command that is right is another, or the end is missing. */
  @Property(tries = 3000)
  void mutatedCommandsAreRefused(
      @ForAll @IntRange(max = 16) int which,
      @ForAll int at,
      @ForAll byte value,
      @ForAll boolean cut) {
    Bytes out = new Bytes();
    CommandCodec.write(out, META.get(which));
    byte[] bytes = out.toArray();
    int place = Math.floorMod(at, bytes.length);
    bytes[place] = value;
    refusedOrRead(
        () -> CommandCodec.meta(new ByteReader(cut ? Arrays.copyOf(bytes, place) : bytes)));
  }

  @Test
  void aCommandWithBytesBehindItIsRefused() {
    Bytes out = new Bytes();
    CommandCodec.write(out, new MetaCommand.SeeGroup("g", List.of(), List.of()));
    out.u8(1);
    assertThatThrownBy(() -> CommandCodec.meta(new ByteReader(out.view())))
        .isInstanceOf(RefusedException.class)
        .hasMessage("malformed record: 1 bytes too many");
  }

  private static void refusedOrRead(Runnable read) {
    try {
      read.run();
    } catch (RefusedException refused) {
      assertThat(refused.getMessage()).isNotBlank();
    }
  }
}
