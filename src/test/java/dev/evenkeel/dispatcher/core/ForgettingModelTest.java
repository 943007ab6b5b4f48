package dev.evenkeel.dispatcher.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.broker.state.LeaseKey;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Heartbeats;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Groups come, go and come back, while requests are lost or come late and dispatchers follow one
 * another, each going on for a while after it was replaced. The deciders are the product's.
 */
class ForgettingModelTest {
  private static final int SEEDS = 200;
  private static final int STEPS = 500;
  private static final int DATA_GROUPS = 3;
  private static final List<TopicInfo> TOPICS =
      List.of(
          new TopicInfo(1, "t", 4, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1_000),
          new TopicInfo(2, "u", 2, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 1_000));

  private static final DispatcherSettings SETTINGS =
      TestSettings.withGroupForget(
          TestSettings.withTimes(TestSettings.atOnce(), 1_000, 3_000, 300), 4_000);

  @Test
  void forgettingEndsAndNeverTouchesWhatWasMadeAnew() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      try {
        new World(seed).run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
    }
  }

  private static final class World {
    private final SplittableRandom random;
    private final List<Rig> data = new ArrayList<>();
    private final Rig meta = new Rig();

    /** Deliveries that are due, and those that come late. */
    private final List<Runnable> due = new ArrayList<>();

    private final List<Runnable> late = new ArrayList<>();
    private final List<Dispatcher> dispatchers = new ArrayList<>();
    private final Map<Shard, Long> highestEpoch = new HashMap<>();

    /** Of each lease, in which life of the group's topic it was granted. */
    private final Map<Shard, Integer> grantedIn = new HashMap<>();

    private final Map<String, Integer> lives = new HashMap<>();
    private final Set<Long> forgotten = new HashSet<>();
    private boolean calm;
    private long now = 1_000_000;
    private int terms;
    private int runs;
    private int producers;
    private long requests;
    private Heartbeat member;

    World(long seed) {
      random = new SplittableRandom(seed);
      for (int i = 0; i < DATA_GROUPS; i++) {
        Rig rig = new Rig();
        for (TopicInfo topic : TOPICS) {
          int group = i;
          List<Integer> shards = new ArrayList<>();
          for (int shard = 0; shard < topic.shards(); shard++) {
            if (new Shard(topic.id(), shard).dataGroup(DATA_GROUPS) == group) {
              shards.add(shard);
            }
          }
          rig.run(Commands.openShards(topic.id(), topic.name(), shards, TopicConfig.DEFAULT));
        }
        data.add(rig);
      }
    }

    void run() {
      activate();
      for (int step = 0; step < STEPS; step++) {
        switch (random.nextInt(20)) {
          case 0 -> comeOrGo();
          case 1 -> publish();
          case 2 -> {
            if (random.nextInt(6) == 0) {
              activate();
            } else if (dispatchers.size() > 1 && random.nextInt(6) == 0) {
              dispatchers.remove(0);
            }
          }
          case 3 -> deliver(late);
          case 4, 5, 6, 7, 8 -> pass();
          default -> deliver(due);
        }
      }
      calm = true;
      while (dispatchers.size() > 1) {
        dispatchers.remove(0);
      }
      member = null;
      comeOrGo();
      rest(20);
      assertThat(leases()).as("the group lives again").isNotEmpty();
      comeOrGo();
      long request = requests++;
      newest().run(newest().core.forget(request, "g", null, null, now));
      rest(80);
      assertThat(forgotten).as("the deletion is over").contains(request);
      assertThat(leases()).isEmpty();
      data.forEach(rig -> assertThat(rig.tables().publishers()).isEmpty());
      assertThat(newest().core.find("g")).isNull();
    }

    private List<Lease> leases() {
      List<Lease> leases = new ArrayList<>();
      for (Rig rig : data) {
        for (LeaseKey key : rig.tables().leasesOf("g")) {
          leases.add(rig.tables().lease(key.group(), key.shard()));
        }
      }
      return leases;
    }

    /** Half-seconds without faults. */
    private void rest(int halves) {
      for (int i = 0; i < halves; i++) {
        pass();
        while (!due.isEmpty() || !late.isEmpty()) {
          deliver(late);
          deliver(due);
        }
      }
    }

    private void deliver(List<Runnable> from) {
      if (!from.isEmpty()) {
        from.remove(random.nextInt(from.size())).run();
      }
    }

    private void pass() {
      now += 500;
      meta.now = now;
      data.forEach(rig -> rig.now = now);
      List.copyOf(dispatchers).forEach(each -> each.run(each.core.tick(now)));
      if (member != null) {
        heartbeat(member);
      }
    }

    private void comeOrGo() {
      if (member == null) {
        boolean both = random.nextBoolean();
        member =
            Heartbeats.with(
                Heartbeats.beat("g", "a", "a" + ++runs, now),
                "topics",
                both ? List.of("t", "u") : List.of("t"),
                "memberTimeoutMillis",
                3_000L,
                "lockTimeMillis",
                1_000L);
        heartbeat(member);
      } else {
        heartbeat(Bench.leaving(member));
        member = null;
      }
    }

    private void heartbeat(Heartbeat beat) {
      boolean lost = !calm && random.nextInt(5) == 0;
      Dispatcher to = lost ? dispatchers.get(0) : newest();
      to.run(to.core.heartbeat(requests++, beat, now));
    }

    /** A handler of a lease's owner publishes to some data group. */
    private void publish() {
      List<Lease> leases = leases();
      if (!leases.isEmpty()) {
        Lease lease = leases.get(random.nextInt(leases.size()));
        Rig to = data.get(random.nextInt(DATA_GROUPS));
        int id = ++producers;
        (random.nextBoolean() ? due : late)
            .add(
                () ->
                    to.run(
                        new DataCommand.OpenPublisher(
                            id, (int) lease.epoch(), "g", lease.shard(), true)));
      }
    }

    private Dispatcher newest() {
      return dispatchers.get(dispatchers.size() - 1);
    }

    private void activate() {
      Dispatcher next = new Dispatcher(++terms);
      dispatchers.add(next);
      next.begin();
    }

    private List<ShardStatus> statuses() {
      List<ShardStatus> statuses = new ArrayList<>();
      for (Rig rig : data) {
        rig.tables()
            .shards()
            .forEach(
                each ->
                    statuses.add(
                        new ShardStatus(
                            each.getKey(),
                            0,
                            0,
                            0,
                            0,
                            rig.tables().leasesOn(each.getKey()),
                            List.of(),
                            ShardStatus.Delayed.NONE)));
      }
      return statuses;
    }

    private Reply apply(Rig rig, DataCommand command) {
      List<Lease> before = leases();
      Reply reply = rig.run(command);
      if (command instanceof DataCommand.Grant && reply instanceof Reply.OfLease of) {
        Shard shard = of.lease().shard();
        Long highest = highestEpoch.put(shard, of.lease().epoch());
        assertThat(of.lease().epoch())
            .as("epochs grow")
            .isGreaterThan(highest == null ? 0 : highest);
        grantedIn.put(shard, life(shard));
      }
      List<Lease> after = leases();
      for (Lease lease : before) {
        if (after.stream().noneMatch(each -> each.shard().equals(lease.shard()))) {
          int granted = grantedIn.remove(lease.shard());
          assertThat(granted == 0 || granted != life(lease.shard()))
              .as("%s dropped %s of the life that is", command, lease)
              .isTrue();
        }
      }
      return reply;
    }

    /** In which life the group reads the shard's topic; 0: it does not. */
    private int life(Shard shard) {
      return lives.getOrDefault(TOPICS.get(shard.topicId() - 1).name(), 0);
    }

    private Reply apply(MetaCommand command) {
      Reply reply = meta.run(command);
      var info = meta.meta.tables().group("g");
      for (TopicInfo topic : TOPICS) {
        boolean reads = info != null && info.reads(topic.name());
        if (!reads) {
          lives.remove(topic.name());
        } else {
          lives.computeIfAbsent(topic.name(), fresh -> ++runs);
        }
      }
      return reply;
    }

    /**
     * A request, and what its sender takes for the answer: it may be given up before it arrives.
     */
    private void request(Supplier<Reply> act, Consumer<Reply> answered) {
      int luck = calm ? 99 : random.nextInt(100);
      Reply none = Reply.refused(Refusal.INDETERMINATE, "no answer");
      if (luck < 3) {
        due.add(() -> answered.accept(none));
      } else if (luck < 9) {
        due.add(() -> answered.accept(none));
        Consumer<Reply> nobody = reply -> {};
        late.add(() -> nobody.accept(act.get()));
      } else if (luck < 13) {
        due.add(
            () -> {
              Reply reply = act.get();
              late.add(() -> answered.accept(reply));
            });
      } else if (luck < 20) {
        late.add(() -> answered.accept(act.get()));
      } else {
        due.add(() -> answered.accept(act.get()));
      }
    }

    private final class Dispatcher {
      private final int term;
      private final DispatcherCore core;

      Dispatcher(int term) {
        this.term = term;
        core = Bench.core(SETTINGS, term, Set.of("c"));
      }

      void begin() {
        run(core.groupLeasesRead(List.of(), now));
        run(
            core.recover(
                TOPICS, List.copyOf(meta.meta.tables().groups()), statuses(), List.of(), now));
      }

      private void run(List<DispatcherAction> actions) {
        actions.forEach(this::act);
        if (core.pushesDue()) {
          core.pushes();
        }
      }

      private void answer(Supplier<List<DispatcherAction>> answered) {
        if (dispatchers.contains(this)) {
          run(answered.get());
        }
      }

      private void act(DispatcherAction action) {
        if (action instanceof DispatcherAction.Forgotten a) {
          forgotten.add(a.request());
        } else if (action instanceof DispatcherAction.Write a) {
          request(
              () -> apply(data.get(a.shard().dataGroup(DATA_GROUPS)), a.command()),
              reply -> answer(() -> core.answered(a, reply, now)));
        } else if (action instanceof DispatcherAction.WriteMeta a) {
          request(
              () ->
                  term == terms
                      ? apply(a.command())
                      : Reply.refused(Refusal.NOT_LEADER, "term " + term),
              reply -> answer(() -> core.answered(a, reply, now)));
        } else if (action instanceof DispatcherAction.ForgetLeases a) {
          everywhere(a);
        } else if (action instanceof DispatcherAction.ReadView a) {
          due.add(() -> answer(() -> core.answered(a, TOPICS, now)));
        } else if (action instanceof DispatcherAction.ReadLeases a) {
          due.add(
              () -> {
                List<ShardStatus> read = statuses();
                due.add(() -> answer(() -> core.answered(a, read, now)));
              });
        } else if (action instanceof DispatcherAction.ReadGroups a) {
          due.add(
              () ->
                  answer(
                      () ->
                          core.answered(
                              a,
                              term == terms ? List.copyOf(meta.meta.tables().groups()) : null,
                              now)));
        }
      }

      /** As the dispatcher's own does: the highest number, or a refusal. */
      private void everywhere(DispatcherAction.ForgetLeases action) {
        List<Reply> replies = new ArrayList<>();
        for (Rig rig : data) {
          request(
              () -> apply(rig, action.command()),
              reply -> {
                replies.add(reply);
                if (replies.size() == DATA_GROUPS) {
                  answer(() -> core.answered(action, joined(replies), now));
                }
              });
        }
      }

      private Reply joined(List<Reply> replies) {
        long highest = 0;
        for (Reply reply : replies) {
          if (!(reply instanceof Reply.OfNumber of)) {
            return reply;
          }
          highest = Math.max(highest, of.number());
        }
        return new Reply.OfNumber(highest);
      }
    }
  }
}
