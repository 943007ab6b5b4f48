package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.log.Follower;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LogReadCheckTest {
  private final LogReadCheck check = new LogReadCheck();
  private final List<Long> read = new ArrayList<>();
  private IOException failure;

  private String at(long second, long... matchIndices) {
    List<Follower> followers = new ArrayList<>();
    for (int i = 0; i < matchIndices.length; i++) {
      followers.add(new Follower("n" + i, matchIndices[i], 10_000));
    }
    return check.check(second * 1_000_000_000, followers, 100, this::entry);
  }

  private Object entry(long index) throws IOException {
    read.add(index);
    if (failure != null) {
      throw failure;
    }
    return null;
  }

  @Test
  void whatAFollowerNeedsIsReadOnceIfItGetsNoFurther() {
    assertThat(at(0, 100, 7)).isNull();
    assertThat(at(2, 100, 7)).isNull();
    assertThat(at(3, 100, 8)).isNull();
    assertThat(read).isEmpty();
    assertThat(at(6, 100, 8)).isNull();
    assertThat(at(60, 100, 8)).isNull();
    assertThat(read).containsExactly(9L);
    assertThat(at(61)).isNull();
    assertThat(at(62, 100, 8)).isNull();
    assertThat(at(65, 100, 8)).isNull();
    assertThat(read).as("it led anew").containsExactly(9L, 9L);
  }

  @Test
  void onlyWhatFailsAgainIsDamage() {
    failure = new IOException("bad checksum");
    at(0, 8);
    assertThat(at(3, 8)).isNull();
    assertThat(at(4, 8)).isNull();
    assertThat(at(5, 8)).isEqualTo("entry 9 of the log cannot be read: IOException: bad checksum");
    failure = new IOException("Too many open files");
    assertThat(at(6, 8)).isNull();
  }
}
