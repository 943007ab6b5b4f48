package dev.evenkeel.sim;

import java.util.List;
import java.util.SplittableRandom;

/** Does something to the world from time to time, until the faults end. */
final class Mischief {
  private final World world;
  private final SplittableRandom random;
  private final long until;
  private int nextTopic;

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
    world.time.in(50 + random.nextInt(1_600), null, null, this::again);
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
        consumer.pausedUntil = world.time.now() + millis;
        world.time.note(() -> consumer + " is stopped for " + millis + " ms");
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
        List<String> names =
            world.brokers.inputTopics().stream().map(topic -> topic.name()).toList();
        if (!names.isEmpty()) {
          consumer.topics =
              random.nextBoolean() ? names : List.of(names.get(random.nextInt(names.size())));
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
    world.time.note(() -> consumer + " is cut off");
    consumer.cutOff = true;
    world.time.in(
        random.nextInt(9_000), consumer, "is not cut off any more", () -> consumer.cutOff = false);
  }

  private void topics() {
    List<String> names = world.brokers.inputTopics().stream().map(topic -> topic.name()).toList();
    if (names.size() > 1 && random.nextBoolean()) {
      world.brokers.deleteSlowly(names.get(random.nextInt(names.size())));
    } else if (names.size() < 4) {
      String name = random.nextBoolean() ? "t" : "n" + nextTopic++;
      world.brokers.createSlowly(name, 1 + random.nextInt(3));
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
    SimDispatcher old = world.newest();
    world.newDispatcher(0);
    if (old != null) {
      world.time.in(
          random.nextBoolean() ? 0 : random.nextInt(8_000),
          old,
          null,
          () -> {
            old.stop();
            world.dispatchers.remove(old);
          });
    }
  }
}
