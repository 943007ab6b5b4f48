package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.state.PositionSet;
import dev.evenkeel.broker.state.RecentSequences;
import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.ClusterUser.TokenDigest;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DataCommand.Grant;
import dev.evenkeel.protocol.DataCommand.ResetLease;
import dev.evenkeel.protocol.DataCommand.SetDrain;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.Skipped;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchHeader;
import dev.evenkeel.protocol.wire.DelayedOrigin;
import dev.evenkeel.protocol.wire.MessageCodec;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Commands, replies and changes of every kind with values of every kind: those that make sense, and
 * those that no program of ours sends. A new kind of command is made without a change here.
 */
final class AnyCommand {
  private static final long[] ODD = {
    -1, 0, 1, 2, 3, 7, 100, Integer.MAX_VALUE, Integer.MIN_VALUE, Long.MAX_VALUE, Long.MIN_VALUE
  };
  private static final String[] TEXTS = {
    "g", "g", "g", "h", "a", "orders", "", ".", "dispatcher@n1", "\uffff", "x".repeat(1_100)
  };

  private static final GroupPolicy[] POLICIES = {
    GroupPolicy.SHARDED, GroupPolicy.of(GroupPolicy.MODE_LEVEL), GroupPolicy.of("singleton")
  };

  private static final Class<?>[] FORMER_OUTCOMES = {
    Outcome.Failed.class, Outcome.Parked.class, Outcome.Settled.class
  };

  /** Later ones would change the pinned checksums. */
  private static final Class<?>[] OUTCOMES = {
    Outcome.Failed.class, Outcome.Parked.class, Outcome.Begun.class, Outcome.Settled.class
  };

  /** Commands that make what belongs to a user. */
  private static final Class<?>[] OF_USERS = {
    MetaCommand.RegisterProducer.class,
    MetaCommand.DeclareGroup.class,
    MetaCommand.SetQuota.class,
    MetaCommand.CreateTopic.class
  };

  /** Names of fields that came with feature level 10. */
  private static final Set<String> OF_SUBSCRIPTIONS =
      Set.of(
          "readers",
          "readFrom",
          "patterns",
          "continued",
          "dispatcherTerm",
          "ownerTag",
          "lastUsedMillis",
          "producerEpochNext");

  private final Random random;
  private final boolean heirs;
  private final boolean sealed;
  private final boolean moved;
  private final boolean crashes;
  private final boolean skipped;
  private final boolean subscriptions;

  AnyCommand(Random random) {
    this(random, true, true, false, false, false, true);
  }

  /** What may have been moved from a sealed shard, or be remembered of a dropped one, too. */
  static AnyCommand moved(Random random) {
    return new AnyCommand(random, true, true, true, false, false, false);
  }

  /** Leases whose owners died, too, and what owners then tell. */
  static AnyCommand crashes(Random random) {
    return new AnyCommand(random, true, true, false, true, false, false);
  }

  /** Leases of which messages were skipped, too. */
  static AnyCommand skipped(Random random) {
    return new AnyCommand(random, true, true, false, true, true, false);
  }

  /**
   * What has neither is the same as it ever was, and without what came with feature level 10.
   *
   * @param heirs whether drains may have one
   * @param sealed whether shards may be, and topics may have had other numbers of shards
   */
  AnyCommand(Random random, boolean heirs, boolean sealed) {
    this(random, heirs, sealed, false, false, false, false);
  }

  private AnyCommand(
      Random random,
      boolean heirs,
      boolean sealed,
      boolean moved,
      boolean crashes,
      boolean skipped,
      boolean subscriptions) {
    this.moved = moved;
    this.crashes = crashes;
    this.skipped = skipped;
    this.subscriptions = subscriptions;
    this.random = random;
    this.heirs = heirs;
    this.sealed = sealed;
  }

  DataCommand data() {
    return (DataCommand) any(pick(DataCommand.class.getPermittedSubclasses()));
  }

  MetaCommand meta() {
    return (MetaCommand) any(pick(MetaCommand.class.getPermittedSubclasses()));
  }

  /** A command of this kind. */
  <T> T of(Class<T> kind) {
    return kind.cast(any(kind));
  }

  private <T> T pick(T[] of) {
    return of[random.nextInt(of.length)];
  }

  private Object any(Type type) {
    if (type instanceof ParameterizedType map && map.getActualTypeArguments().length == 2) {
      SortedMap<Object, Object> entries = new TreeMap<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        Object key = any(map.getActualTypeArguments()[0]);
        if (key != null) {
          entries.put(key, random.nextLong());
        }
      }
      return entries;
    } else if (type instanceof ParameterizedType list) {
      if (list.getActualTypeArguments()[0] == DelayedOrigin.Place.class && !moved) {
        return List.of();
      }
      List<Object> items = new ArrayList<>();
      for (int i = random.nextInt(4); i > 0; i--) {
        Object item = any(list.getActualTypeArguments()[0]);
        if (item != null) {
          items.add(item);
        }
      }
      return items;
    }
    Class<?> kind = (Class<?>) type;
    if (kind == String.class) {
      return random.nextInt(8) == 0 ? null : pick(TEXTS);
    } else if (kind == long.class || kind == Long.class && random.nextBoolean()) {
      return random.nextBoolean() ? random.nextInt(9) : ODD[random.nextInt(ODD.length)];
    } else if (kind == Long.class || kind == Drain.class && random.nextInt(3) == 0) {
      return kind == Long.class && random.nextBoolean() ? (Long) 5L : null;
    } else if (kind == int.class || kind == Integer.class) {
      return random.nextBoolean() ? random.nextInt(9) : (int) ODD[random.nextInt(ODD.length)];
    } else if (kind == boolean.class) {
      return random.nextBoolean();
    } else if (kind == byte[].class) {
      return bytes();
    } else if (kind == Shard.class && random.nextInt(4) > 0) {
      return new Shard(1, random.nextInt(2));
    } else if (kind == Drain.Heir.class) {
      return heirs && random.nextBoolean() ? record(kind) : null;
    } else if (kind == GroupPattern.class) {
      String entry = random.nextBoolean() ? "o*" : pick(TEXTS);
      return new GroupPattern(entry, random.nextBoolean() ? null : List.of(pick(TEXTS)));
    } else if (kind == Crashes.class) {
      return crashes && random.nextBoolean() ? record(kind) : null;
    } else if (kind == Skipped.class) {
      return skipped && random.nextBoolean() ? record(kind) : null;
    } else if (kind == Outcome.class) {
      return any(pick(crashes ? OUTCOMES : FORMER_OUTCOMES));
    } else if (kind == Lease.Stage.class && !sealed) {
      return Lease.Stage.CONSUMING;
    } else if (kind == PositionSet.class) {
      return sealed ? PositionSet.NONE.with(random.nextInt(9)) : PositionSet.NONE;
    } else if (kind == DataCommand.DropSealed.class && !moved) {
      return new DataCommand.DropSealed(
          (int) any(int.class), (int) any(int.class), DataCommand.DropSealed.EVERYTHING);
    } else if (kind == TopicInfo.class) {
      return topic();
    } else if (kind == ShardRecord.class) {
      ShardRecord open =
          new ShardRecord(
              number(), number(), number(), number(), number(), number(), number(), false);
      return sealed && random.nextBoolean() ? open.seal() : open;
    } else if (kind == Reply.class) {
      return any(random.nextBoolean() ? Reply.OfLease.class : Reply.Refused.class);
    } else if (kind == DataCommand.Step.class && !subscriptions) {
      return any(pick(new Class<?>[] {Grant.class, SetDrain.class, ResetLease.class}));
    } else if (kind == MetaCommand.ByUser.class) {
      return new MetaCommand.ByUser((String) any(String.class), (MetaCommand) any(pick(OF_USERS)));
    } else if (kind.isSealed()) {
      return any(pick(kind.getPermittedSubclasses()));
    } else if (kind == GroupPolicy.class && random.nextBoolean()) {
      return pick(POLICIES);
    } else if (kind == ClusterUser.class) {
      return user();
    } else if (kind == Quota.class && random.nextBoolean()) {
      QuotaKind quota = pick(QuotaKind.values());
      long bytes = quota == QuotaKind.GROUP_RATE ? 0 : random.nextInt(9);
      return new Quota(
          quota, pick(new String[] {"a", "b"}), bytes, random.nextInt(9), 1 + random.nextInt(9));
    } else if (kind == Batch.class || kind == BatchHeader.class) {
      BatchBuilder batch = new BatchBuilder(64);
      batch.add(new Message(null, Map.of(), 1, new byte[random.nextInt(9)]));
      return batch.build(7, 1, 0);
    } else if (kind == RecentSequences.class) {
      return RecentSequences.upTo(random.nextInt(9), random.nextInt(9)).appended(2, 5);
    } else if (kind.isEnum()) {
      // Later refusals would change which ones are picked, and with them all pinned checksums.
      return kind == Refusal.class
          ? pick(Arrays.copyOf(Refusal.values(), Refusal.INTERNAL.ordinal() + 1))
          : pick(kind.getEnumConstants());
    }
    return record(kind);
  }

  private long number() {
    return ((Number) any(long.class)).longValue();
  }

  private TopicInfo topic() {
    TopicInfo topic =
        new TopicInfo(
            (int) any(int.class),
            (String) any(String.class),
            (int) any(int.class),
            (TopicConfig) any(TopicConfig.class),
            (TopicInfo.State) any(TopicInfo.State.class),
            number());
    while (sealed && random.nextInt(3) == 0) {
      TopicInfo next =
          topic.opening(random.nextInt(9), random.nextBoolean() ? List.of() : List.of(2, 0, 3));
      topic = random.nextBoolean() ? next.opened(random.nextInt(9)) : next;
    }
    while (moved && topic.hasSealed() && random.nextBoolean()) {
      topic = topic.withoutOldest(true);
    }
    return topic;
  }

  private byte[] bytes() {
    return switch (random.nextInt(5)) {
      case 0 -> null;
      case 1 -> new byte[random.nextInt(9)];
      case 2 -> MessageCodec.encode(new Message(null, Map.of(), 1, new byte[0]));
      default ->
          MessageCodec.encode(new Message(new byte[1], Map.of("h", new byte[1]), 1, new byte[5]));
    };
  }

  private Object record(Class<?> kind) {
    RecordComponent[] parts = kind.getRecordComponents();
    Object[] values = new Object[parts.length];
    for (int i = 0; i < parts.length; i++) {
      values[i] =
          !subscriptions && OF_SUBSCRIPTIONS.contains(parts[i].getName())
              ? former(kind, parts[i])
              : value(parts[i].getGenericType());
    }
    Class<?>[] types = Stream.of(parts).map(RecordComponent::getType).toArray(Class<?>[]::new);
    try {
      return kind.getDeclaredConstructor(types).newInstance(values);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(kind + " of " + Arrays.toString(values), e);
    }
  }

  private static Object former(Class<?> kind, RecordComponent part) {
    if (part.getType() == int.class) {
      return 0;
    }
    if (part.getType() == long.class) {
      return 0L;
    }
    if (part.getType() == boolean.class) {
      return false;
    }
    if (kind == GroupInfo.class) {
      return new TreeMap<>();
    }
    boolean readers =
        kind == MetaCommand.ActivateTopic.class || kind == MetaCommand.OpenLayout.class;
    return readers ? null : List.of();
  }

  /** What a static method makes of any arguments. */
  Object madeBy(Method method) {
    Object[] values = Stream.of(method.getGenericParameterTypes()).map(this::value).toArray();
    try {
      return method.invoke(null, values);
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(method + " of " + Arrays.toString(values), e);
    }
  }

  private Object value(Type type) {
    Object value = any(type);
    return value != null && (type == long.class || type == Long.class)
        ? (Object) ((Number) value).longValue()
        : value;
  }

  /** One of few, so that some are known. */
  private ClusterUser user() {
    String id = "0123456" + random.nextInt(3);
    Long expires = random.nextBoolean() ? null : (Long) random.nextLong(1, 1L << 40);
    return new ClusterUser(
        pick(new String[] {"shop", "billing"}),
        random.nextBoolean() ? List.of() : List.of(new TokenDigest(id, "0a".repeat(32), expires)),
        random.nextInt(4) == 0 ? "cn" : null,
        ClusterUser.SHARE_PERMILLE_MIN + random.nextInt(2_000),
        random.nextBoolean() ? List.of() : List.of("produce:orders", "view:*"));
  }
}
