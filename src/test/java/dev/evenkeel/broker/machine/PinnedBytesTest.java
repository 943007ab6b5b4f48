package dev.evenkeel.broker.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.FailureEntry;
import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.NamedProducer;
import dev.evenkeel.broker.state.StateChange;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import dev.evenkeel.storage.Store;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/**
 * The bytes of commands, replies and stored rows do not change. For each kind the file {@code
 * pinned-bytes.txt} has a checksum over the bytes of many random values. A new kind adds a line;
 * the checksum of an old kind never changes. {@code -Devenkeel.pin=FILE} writes the file.
 */
class PinnedBytesTest {
  /** Other names of kinds in the file: the random values depend on the name. */
  private static final Map<String, String> PINNED_AS =
      Map.of(
          "MetaCommand$AddLogGroup", "MetaCommand$AddGroup",
          "MetaCommand$OpenLogGroup", "MetaCommand$OpenGroup",
          "MetaCommand$PlaceLogGroup", "MetaCommand$PlaceGroup");

  private static final int SAMPLES = 400;

  private final List<String> lines = new ArrayList<>();

  @Test
  void bytesOnTheWireAndOnDiskStayAsTheyAre() throws Exception {
    each(
        DataCommand.class,
        command -> Entry.of(command, 123),
        bytes -> Entry.of(CommandCodec.data(new ByteReader(body(bytes))), 123));
    each(
        MetaCommand.class,
        command -> Entry.of(command, 123),
        bytes -> Entry.of(CommandCodec.meta(new ByteReader(body(bytes))), 123));
    each(
        Reply.class,
        ReplyCodec::encode,
        bytes -> ReplyCodec.encode(ReplyCodec.decode(ByteBuffer.wrap(bytes))));
    for (Class<?> kind : Change.class.getPermittedSubclasses()) {
      if (kind != Change.Row.class) {
        pin(kind.asSubclass(Change.class), change -> rows(change::write), null);
      }
    }
    madeBy(Change.class);
    madeBy(MetaChange.class);
    pin(
        FailureEntry.class,
        FailureEntry.CODEC::encode,
        bytes -> FailureEntry.CODEC.encode(FailureEntry.CODEC.decode(bytes)));
    pin(
        RetryAnswer.class,
        RetryAnswer.CODEC::encode,
        bytes -> RetryAnswer.CODEC.encode(RetryAnswer.CODEC.decode(bytes)));
    pin(RetryRequest.class, RetryRequest.CODEC::encode, null);
    pin(
        "Drain$Heir",
        new AnyCommand(new Random(1), true, false),
        any -> RecordCodec.LEASE.encode(any.of(Lease.class)),
        bytes -> RecordCodec.LEASE.encode(RecordCodec.LEASE.decode(bytes)));
    pin(
        "Drain$Heir of a command",
        new AnyCommand(new Random(1), true, false),
        any -> Entry.of(any.of(DataCommand.SetDrain.class), 123),
        bytes -> Entry.of(CommandCodec.data(new ByteReader(body(bytes))), 123));
    pin(
        "Lease$Stage",
        new AnyCommand(new Random(1), true, true),
        any -> RecordCodec.LEASE.encode(any.of(Lease.class)),
        bytes -> RecordCodec.LEASE.encode(RecordCodec.LEASE.decode(bytes)));
    pin(
        "Lease with crashes",
        AnyCommand.crashes(new Random(1)),
        any -> RecordCodec.LEASE.encode(any.of(Lease.class)),
        bytes -> RecordCodec.LEASE.encode(RecordCodec.LEASE.decode(bytes)));
    pin(
        "Lease with what was skipped",
        AnyCommand.skipped(new Random(1)),
        any -> RecordCodec.LEASE.encode(any.of(Lease.class)),
        bytes -> RecordCodec.LEASE.encode(RecordCodec.LEASE.decode(bytes)));
    pin(
        "Outcome$Begun",
        AnyCommand.crashes(new Random(1)),
        any -> Entry.of(any.of(DataCommand.RecordOutcomes.class), 123),
        bytes -> Entry.of(CommandCodec.data(new ByteReader(body(bytes))), 123));
    pin(
        "TopicInfo$Layout",
        new AnyCommand(new Random(1), true, true),
        any -> RecordCodec.TOPIC.encode(any.of(TopicInfo.class)),
        bytes -> RecordCodec.TOPIC.encode(RecordCodec.TOPIC.decode(bytes)));
    pin(
        "ShardRecord sealed",
        new AnyCommand(new Random(1), true, true),
        any -> rows(any.of(Change.PutShard.class)::write),
        null);
    pin(
        "DelayedBatch cancelled",
        new AnyCommand(new Random(1), true, true),
        any -> rows(any.of(Change.KeepRest.class)::write),
        null);
    pin(
        "DelayedBatch moved",
        AnyCommand.moved(new Random(1)),
        any -> rows(any.of(Change.KeepRest.class)::write),
        null);
    for (Class<? extends DataCommand> kind :
        List.of(DataCommand.OpenShards.class, DataCommand.TakeSteps.class)) {
      pin(
          "DataCommand$" + kind.getSimpleName() + " of subscriptions",
          new AnyCommand(new Random(1)),
          any -> Entry.of(any.of(kind), 123),
          bytes -> Entry.of(CommandCodec.data(new ByteReader(body(bytes))), 123));
    }
    for (Class<? extends MetaCommand> kind :
        List.of(
            MetaCommand.ActivateTopic.class,
            MetaCommand.OpenLayout.class,
            MetaCommand.DeclareGroup.class,
            MetaCommand.GrantGroupLease.class,
            MetaCommand.SeeGroup.class)) {
      pin(
          "MetaCommand$" + kind.getSimpleName() + " of subscriptions",
          new AnyCommand(new Random(1)),
          any -> Entry.of(any.of(kind), 123),
          bytes -> Entry.of(CommandCodec.meta(new ByteReader(body(bytes))), 123));
    }
    pin(
        "GroupInfo of subscriptions",
        new AnyCommand(new Random(1)),
        any -> RecordCodec.GROUP.encode(any.of(GroupInfo.class)),
        bytes -> RecordCodec.GROUP.encode(RecordCodec.GROUP.decode(bytes)));
    pin(
        "NamedProducer continued",
        new AnyCommand(new Random(1)),
        any -> rows(MetaChange.putProducer(any.of(NamedProducer.class))::write),
        null);
    pin(
        "DataCommand$OpenProducer with an owner",
        new AnyCommand(new Random(1)),
        any -> Entry.of(any.of(DataCommand.OpenProducer.class), 123),
        bytes -> Entry.of(CommandCodec.data(new ByteReader(body(bytes))), 123));
    pin(
        "Change$PutProducer with an owner",
        new AnyCommand(new Random(1)),
        any -> rows(any.of(Change.PutProducer.class)::write),
        null);
    AnyCommand dropped = AnyCommand.moved(new Random(1));
    pin(
        "TopicInfo dropped",
        dropped,
        any -> RecordCodec.TOPIC.encode(any.of(TopicInfo.class)),
        bytes -> RecordCodec.TOPIC.encode(RecordCodec.TOPIC.decode(bytes)));
    pin(
        "DataCommand$DropSealed remembering",
        dropped,
        any -> Entry.of(any.of(DataCommand.DropSealed.class), 123),
        bytes -> Entry.of(CommandCodec.data(new ByteReader(body(bytes))), 123));
    pin(
        "Outcome$Died",
        new AnyCommand(new Random(1)),
        any ->
            Entry.of(
                new DataCommand.RecordOutcomes(
                    "g", new Shard(1, 0), 3, List.of(any.of(Outcome.Died.class))),
                123),
        bytes -> Entry.of(CommandCodec.data(new ByteReader(body(bytes))), 123));
    String file = System.getProperty("evenkeel.pin");
    if (file != null) {
      Files.write(Path.of(file), lines);
    }
    try (var pinned = PinnedBytesTest.class.getResourceAsStream("/pinned-bytes.txt")) {
      assertThat(pinned).isNotNull();
      String all = new String(pinned.readAllBytes(), StandardCharsets.UTF_8);
      assertThat(lines).containsExactlyInAnyOrderElementsOf(all.lines().toList());
    }
  }

  private static ByteBuffer body(byte[] entry) {
    return Entry.read(ByteBuffer.wrap(entry)).body();
  }

  private <T> void each(
      Class<T> sealed, Function<? super T, byte[]> encode, Function<byte[], byte[]> again) {
    for (Class<?> kind : sealed.getPermittedSubclasses()) {
      pin(kind.asSubclass(sealed), encode, again);
    }
  }

  /** The changes that have no record of their own. */
  private void madeBy(Class<? extends StateChange<?>> changes) {
    for (Method method : changes.getDeclaredMethods()) {
      if (Modifier.isStatic(method.getModifiers()) && method.getReturnType() == changes) {
        String name = method.getName();
        pin(
            changes.getSimpleName()
                + "$"
                + name.substring(0, 1).toUpperCase(Locale.ROOT)
                + name.substring(1),
            any -> rows(changes.cast(any.madeBy(method))::write),
            null);
      }
    }
  }

  /** The checksum of what {@code encode} makes; reading and writing it again changes nothing. */
  private <T> void pin(
      Class<T> kind, Function<? super T, byte[]> encode, Function<byte[], byte[]> again) {
    String name = kind.getName().replaceFirst(".*\\.", "");
    pin(PINNED_AS.getOrDefault(name, name), any -> encode.apply(any.of(kind)), again);
  }

  private void pin(
      String name, Function<AnyCommand, byte[]> encode, Function<byte[], byte[]> again) {
    pin(name, new AnyCommand(new Random(name.hashCode()), false, false), encode, again);
  }

  private void pin(
      String name,
      AnyCommand any,
      Function<AnyCommand, byte[]> encode,
      Function<byte[], byte[]> again) {
    CRC32C crc = new CRC32C();
    int encoded = 0;
    for (int i = 0; i < SAMPLES; i++) {
      byte[] bytes;
      try {
        bytes = encode.apply(any);
      } catch (RuntimeException | AssertionError refused) {
        continue;
      }
      encoded++;
      crc.update(bytes.length);
      crc.update(bytes);
      if (again != null) {
        assertThat(again.apply(bytes)).as("%s read and written again", name).isEqualTo(bytes);
      }
    }
    assertThat(encoded).as("values of %s that have bytes", name).isPositive();
    lines.add(name + " " + encoded + " " + Long.toHexString(crc.getValue()));
  }

  private interface Writer {
    void write(Store.Write write);
  }

  private static byte[] rows(Writer change) {
    Bytes out = new Bytes();
    change.write(
        new Store.Write() {
          @Override
          public void put(Store.Table table, byte[] key, byte[] value) {
            out.text("put " + table).blob(key).blob(value);
          }

          @Override
          public void delete(Store.Table table, byte[] key) {
            out.text("delete " + table).blob(key);
          }

          @Override
          public void deleteRange(Store.Table table, byte[] from, byte[] to) {
            out.text("range " + table).blob(from).blob(to);
          }

          @Override
          public void commit(long term, long index, byte[] note) {}

          @Override
          public void close() {}
        });
    return out.toArray();
  }
}
