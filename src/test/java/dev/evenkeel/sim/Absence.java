package dev.evenkeel.sim;

import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.MetaCommand;
import java.util.HashMap;
import java.util.Map;

/** Knows when members of the group were heard last, and that it is not forgotten too soon. */
final class Absence {
  /**
   * The product counts absence in steps and marks it late: it may take members to have gone so much
   * earlier than they did. It takes never more than three quarters of the time.
   */
  private static final int SURELY_OF = 4;

  /** What was asked for by then is forgotten for that reason. */
  private static final long ASKED_MILLIS = 40_000;

  private final World world;

  /** When a member that reads it was heard last, by topic. */
  private final Map<String, Long> heard = new HashMap<>();

  private long heardMillis = World.START;
  private long askedMillis = Long.MIN_VALUE / 2;

  /** The wall clock of the machine that added active time last. */
  private long addedWallMillis = World.START;

  Absence(World world) {
    this.world = world;
  }

  /** A dispatcher has answered a heartbeat. Who leaves is answered, and not taken in. */
  void heard(Heartbeat beat) {
    if (beat.leaving()) {
      return;
    }
    heardMillis = world.time.now();
    beat.topics().forEach(topic -> heard.put(topic, heardMillis));
  }

  /** Somebody has the group deleted. */
  void deleted() {
    askedMillis = world.time.now();
  }

  /** A dispatcher has a command written to the meta log; returns what is written. */
  MetaCommand asked(MetaCommand command, Machine machine) {
    if (command instanceof MetaCommand.ForgetGroup c && !c.name().equals(World.GROUP)
        || command instanceof MetaCommand.ForgetTopic t && !t.group().equals(World.GROUP)) {
      return command;
    }
    if (command instanceof MetaCommand.ForgetGroup) {
      check("the group", heardMillis);
    } else if (command instanceof MetaCommand.ForgetTopic c) {
      check(c.topic(), heard.getOrDefault(c.topic(), World.START));
    } else if (command instanceof MetaCommand.AddActiveTime c) {
      long passed = machine.wallMillis() - addedWallMillis;
      addedWallMillis = machine.wallMillis();
      return new MetaCommand.AddActiveTime(world.bug.activeMillis(c.millis(), passed));
    }
    return command;
  }

  private void check(String what, long lastMillis) {
    long ago = world.time.now() - lastMillis;
    boolean asked = world.time.now() - askedMillis < ASKED_MILLIS;
    boolean known =
        world.brokers.groupInfos().stream().anyMatch(each -> each.name().equals(World.GROUP));
    if (known && !asked && ago < world.forgetMillis() / SURELY_OF) {
      throw new SimulationFailure(what + " is forgotten, and was read " + ago + " ms ago");
    }
  }
}
