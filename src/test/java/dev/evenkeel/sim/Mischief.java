package dev.evenkeel.sim;

import java.util.List;
import java.util.SplittableRandom;

/** Does something to the world from time to time, until the faults end. */
final class Mischief {
  private final World world;
  private final SplittableRandom random;
  private final long until;
  private int nextTopic;

  /** Nothing happens until then, in virtual time, but what happens while all members are away. */
  private long pauseUntil;

  private long awayUntil;

  Mischief(World world, long until) {
    this.world = world;
    this.random = world.random;
    this.until = until;
    world.time.in(1_500, null, null, this::again);
  }

  private void again() {
    if (world.time.now() >= until) {
      return;
    }
    if (world.clocksJump() && random.nextInt(3) == 0) {
      if (random.nextBoolean()) {
        world.nodes.setAnyClock();
      } else {
        world.setAnyClock();
      }
    }
    boolean pause = world.time.now() < pauseUntil;
    if (pause && awayUntil > world.time.now()) {
      whileAllAreAway();
    } else if (!pause
        && world.features.focus() != Focus.NONE
        && (isPure() || random.nextInt(3) > 0)) {
      focused();
    } else if (!pause) {
      troubled();
    }
    world.time.in(50 + random.nextInt(1_600), null, null, this::again);
  }

  /** Whether nothing happens that the focus is not about. */
  private boolean isPure() {
    return world.features.focus() == Focus.DEADLY_MESSAGES;
  }

  private void focused() {
    switch (world.features.focus()) {
      case LOST_REGISTRY -> loseRegistry();
      case TOPICS_COME_AGAIN -> topics();
      case GROUPS_COME_AGAIN -> everybodyGoes();
      case LEADERS_FOLLOW -> leadersFollow();
      case DEADLY_MESSAGES -> comeAndGo();
      case SHARDS_CHANGE, CONSUMED_IS_DROPPED -> {
        if (random.nextInt(3) == 0) {
          reshard();
        } else {
          troubled();
        }
      }
      default -> troubled();
    }
  }

  private void troubled() {
    switch (world.trouble) {
      case NONE -> comeAndGo();
      case ONE_DISPATCHER -> withOneDispatcher(random.nextInt(14));
      case EVERYTHING -> {
        int luck = random.nextInt(20);
        if (luck < 14) {
          withOneDispatcher(luck);
        } else {
          withDispatchers(luck);
        }
      }
    }
  }

  private SimConsumer anyConsumer() {
    List<SimConsumer> consumers = world.consumers;
    return consumers.isEmpty() ? null : consumers.get(random.nextInt(consumers.size()));
  }

  private String anyName() {
    return "m" + random.nextInt(world.members());
  }

  private void comeAndGo() {
    String name = anyName();
    if (world.runs(name) == 0) {
      world.join(name);
      return;
    }
    long staying = world.consumers.stream().filter(consumer -> !consumer.closing).count();
    if (staying > 1) {
      anyConsumer().close();
    }
  }

  private void withOneDispatcher(int luck) {
    SimConsumer consumer = anyConsumer();
    if (consumer == null) {
      world.join(anyName());
      return;
    }
    switch (luck) {
      case 0, 1 -> crash(consumer);
      case 2 -> consumer.close();
      case 3, 4 -> world.join(anyName());
      case 5 -> {
        long millis = 100 + random.nextInt(9_000);
        // With a clock that is set back meanwhile it would not notice.
        if (!world.features.clocks() && random.nextBoolean()) {
          consumer.suspend(millis);
        } else {
          consumer.pausedUntil = world.time.now() + millis;
          world.time.note(() -> consumer + " is stopped for " + millis + " ms");
        }
      }
      case 6 -> {
        cutOff(consumer);
      }
      case 7 -> {
        consumer.link(false);
        world.time.in(random.nextInt(9_000), consumer, null, () -> consumer.link(true));
      }
      case 8, 9 ->
          world.brokers.groups().get(random.nextInt(world.brokers.groups().size())).fault();
      case 10 -> topics();
      case 11 -> {
        var names = world.brokers.inputTopics().stream().map(topic -> topic.name()).toList();
        if (!names.isEmpty()) {
          consumer.topics =
              world.singleton() || random.nextBoolean()
                  ? names
                  : List.of(names.get(random.nextInt(names.size())));
          world.time.note(() -> consumer + " reads " + consumer.topics);
        }
      }
      case 12 -> world.clearMaps();
      default -> {
        SimDispatcher dispatcher = world.newest();
        if (dispatcher != null && random.nextInt(3) == 0) {
          world.dispatcherCrashes(dispatcher);
          if (random.nextBoolean()) {
            // With the node went the map, and the way of a member that goes on.
            world.clearMaps();
            cutOff(consumer);
          }
        } else {
          pauseDispatcher();
        }
      }
    }
  }

  /** With the node of the dispatcher go the map, and the way of members that go on. */
  private void loseRegistry() {
    SimDispatcher dispatcher = world.newest();
    if (dispatcher == null || dispatcher.gone || world.consumers.isEmpty()) {
      world.join(anyName());
      return;
    }
    world.dispatcherCrashes(dispatcher);
    world.clearMaps();
    for (SimConsumer consumer : world.consumers) {
      if (random.nextBoolean()) {
        cutOff(consumer, 12_000);
      }
    }
    pauseUntil = world.time.now() + 12_000;
  }

  /** And all come again, before the group is forgotten or after it. */
  private void everybodyGoes() {
    if (world.consumers.isEmpty()) {
      world.join(anyName());
      return;
    }
    world.time.note(() -> "everybody goes");
    for (SimConsumer consumer : List.copyOf(world.consumers)) {
      if (random.nextInt(3) == 0) {
        consumer.crash();
      } else {
        consumer.close();
      }
    }
    long away = random.nextLong(3 * world.forgetMillis() / 2);
    awayUntil = world.time.now() + away;
    pauseUntil = awayUntil + random.nextInt(10_000);
    if (random.nextInt(3) == 0) {
      world.noDispatcher(away);
    }
    for (int i = 0; i < world.members(); i++) {
      String name = "m" + i;
      world.time.in(
          away + random.nextInt(2_000),
          null,
          null,
          () -> {
            if (world.faulty() && world.runs(name) == 0) {
              world.join(name);
            }
          });
    }
  }

  /** Without wall clocks that jump, somebody deletes the group at times. */
  private void whileAllAreAway() {
    switch (random.nextInt(10)) {
      case 0 -> withDispatchers(14 + random.nextInt(4));
      case 1 -> {
        if (world.features.clocks()) {
          world.nodes.setAnyClock();
        } else if (world.newest() != null && !world.newest().gone) {
          world.absence.deleted();
          world.newest().forget(World.GROUP, null, null, Network.nobody());
        }
      }
      default -> {}
    }
  }

  /** The leader is cut off, or stands still, and another dispatcher than its own elects another. */
  private void leadersFollow() {
    SimConsumer consumer = anyConsumer();
    switch (random.nextInt(5)) {
      case 0 -> depose();
      case 1 -> pauseDispatcher();
      case 2 -> world.join(anyName());
      default -> {
        if (consumer != null) {
          cutOff(consumer);
        }
      }
    }
  }

  private void crash(SimConsumer consumer) {
    consumer.crash();
    if (random.nextBoolean()) {
      world.time.in(
          random.nextInt(3_000),
          null,
          consumer.member + " is started again",
          () -> world.join(consumer.member));
    }
  }

  private void cutOff(SimConsumer consumer) {
    cutOff(consumer, 9_000);
  }

  private void cutOff(SimConsumer consumer, int millisMax) {
    world.time.note(() -> consumer + " is cut off");
    consumer.cutOff = true;
    world.time.in(
        random.nextInt(millisMax),
        consumer,
        "is not cut off any more",
        () -> consumer.cutOff = false);
  }

  private void topics() {
    List<String> names = world.brokers.inputTopics().stream().map(topic -> topic.name()).toList();
    if (names.size() > 1 && random.nextBoolean()) {
      world.brokers.deleteSlowly(names.get(random.nextInt(names.size())));
    } else if (names.size() < 4) {
      boolean again = world.features.focus() == Focus.TOPICS_COME_AGAIN || random.nextBoolean();
      String name = again ? "t" : "n" + nextTopic++;
      world.brokers.createSlowly(name, 1 + random.nextInt(3));
    }
  }

  private void reshard() {
    List<String> names = world.brokers.inputTopics().stream().map(topic -> topic.name()).toList();
    if (!names.isEmpty()) {
      String name = names.get(random.nextInt(names.size()));
      world.brokers.reshardSlowly(name, 1 + random.nextInt(5));
    }
  }

  private void pauseDispatcher() {
    SimDispatcher dispatcher = world.newest();
    if (dispatcher != null) {
      long millis = random.nextInt(6_000);
      dispatcher.pausedUntil = world.time.now() + millis;
      world.time.note(() -> dispatcher + " is stopped for " + millis + " ms");
    }
  }

  private void withDispatchers(int luck) {
    switch (luck) {
      case 14, 15 -> depose();
      case 16 -> {
        SimDispatcher dispatcher = world.newest();
        if (dispatcher != null) {
          world.dispatcherCrashes(dispatcher);
        }
      }
      case 17 -> world.sameDispatcherAgain();
      default -> {
        SimConsumer consumer = anyConsumer();
        if (consumer != null) {
          world.time.note(() -> "the cluster gives up " + consumer);
          world.placeGone(consumer.place);
          world.time.in(
              300 + random.nextInt(3_000),
              consumer,
              null,
              () -> {
                consumer.link(false);
                world.time.in(random.nextInt(2_000), consumer, null, consumer::rejoined);
              });
        }
      }
    }
  }

  /** The old one notices at once, or after a while in which there are two. */
  private void depose() {
    world.replaceDispatcher(random.nextBoolean() ? 0 : random.nextInt(8_000));
  }
}
