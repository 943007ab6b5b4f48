package dev.evenkeel.log.raft;

import static dev.evenkeel.Loops.each;
import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import dev.evenkeel.Wait;
import dev.evenkeel.log.LogGroup;
import dev.evenkeel.log.LogSettings;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.log.NodeInfo.Stage;
import dev.evenkeel.log.PeerLink;
import dev.evenkeel.protocol.RefusedException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Three nodes form together, one loses its directory, and an empty one takes its place. */
class ReplaceVoterTest {
  /** Often enough that a request of the leader comes in the middle. */
  private static final int REOPENED = 40;

  @TempDir Path temp;
  private final List<LogSettings.Peer> peers =
      List.of("a", "b", "c").stream().map(id -> TestNode.peer(id, TestNode.freePort())).toList();
  private final TestLines lines = new TestLines(true);
  private final Map<String, TestNode> nodes = new ConcurrentHashMap<>();
  private final Appends appends = new Appends(() -> group(leader("d0"), "d0"));

  @BeforeEach
  void formTogether() throws Exception {
    List<CompletableFuture<TestNode>> starts = new ArrayList<>();
    List.of("c", "a", "b").forEach(id -> starts.add(start(id, "1")));
    each(starts, start -> started(start));
  }

  @AfterEach
  void stopAll() {
    nodes.values().forEach(TestNode::close);
  }

  @Test
  void anEmptyNodeTakesTheLostOnesPlaceByASnapshotAndItsVoteCounts() throws Exception {
    String lost = other(leader("d0"));
    stop(lost);
    // Without the log's beginning, the new one can only be brought up to date by a snapshot.
    String large = "x".repeat(1 << 20);
    times(20, i -> appends.append(large + i));
    nodes.values().forEach(node -> node.purgeBehind(0));
    appends.append("last");

    CompletableFuture<TestNode> empty = start(lost, "2");
    Wait.until(() -> stage(lost) == Stage.WAITING);
    Wait.until(
        () -> {
          // The text comes right after the stage.
          String why = lines.of(lost).waitsFor;
          return why != null && why.contains("evenkeel cluster replace " + lost);
        });
    assertThat(temp.resolve("2/" + lost + "/log/" + ClusterFile.NAME)).doesNotExist();
    assertThat(empty).isNotDone();

    String voter = lines.of(lost).info.voter();
    for (String name : List.of("meta", "d0")) {
      change(name, group -> group.voters().remove(lost, voter));
      // Again, as after an interruption.
      change(name, group -> group.voters().remove(lost, voter));
      assertThat(group(leader(name), name).voters().names()).hasSize(2);
    }
    invite(lost);
    // It has opened its logs, and yet it is no voter.
    assertThat(empty).isNotDone();
    for (String name : List.of("meta", "d0")) {
      change(name, group -> group.voters().add(voter));
      change(name, group -> group.voters().add(voter));
    }
    TestNode taken = started(empty);
    awaitEntries(taken);
    assertThat(taken.state("d0").restores).hasPositiveValue();

    // Its vote counts: with it, another may go. And it keeps its place through a restart.
    stop(lost);
    started(start(lost, "2"));
    String other = other(lost);
    stop(other);
    appends.append("after");
    awaitEntries(nodes.get(lost));
  }

  /**
   * So the engine ends the log group of a leader whose vote was taken away, while a request to this
   * leader waits for the same lock. The group is open again soon, and who asks meanwhile is
   * answered.
   */
  @Test
  void aRequestToALeaderThatLosesItsVoteDoesNotHoldUpTheEndOfItsLog() throws Exception {
    appends.append("first");
    String leader = leader("d0");
    var other = other(leader);
    RaftLogGroup group = (RaftLogGroup) group(leader, "d0");
    RaftServer.Division division = group.division().running();
    CompletableFuture<Boolean> closed =
        CompletableFuture.supplyAsync(
            () -> {
              synchronized (division) {
                group.elections().handLeadershipTo(other);
                Wait.until(() -> waitsForLock("transferLeadership"));
                division.close();
                return group.copy().exists();
              }
            });
    assertThat(closed).succeedsWithin(TestNode.PATIENCE).isEqualTo(true);
    Wait.until(() -> group.division().running() != division && group.voters().hearsLeader());
  }

  /**
   * The engine waits for the end of a thread when it hears of the vote, with the lock of the log
   * group. The thread may be waiting for this lock, so it must have ended before.
   */
  @Test
  void whoHearsOfItsVoteDoesNotLookForALeader() throws Exception {
    String guest = startWithoutAVote();
    String voter = lines.of(guest).info.voter();
    RaftLogGroup follower = nodes.get(guest).log("meta");
    String member = follower.division().running().getMemberId().toString();
    String looking = member + "-FollowerState";
    List<Boolean> looks = new CopyOnWriteArrayList<>();
    Logger log = (Logger) LoggerFactory.getLogger(RaftServer.Division.class);
    Appender<ILoggingEvent> watch =
        new UnsynchronizedAppenderBase<>() {
          @Override
          protected void append(ILoggingEvent event) {
            boolean hears = event.getFormattedMessage().startsWith(member + ": set configuration");
            if (hears && follower.division().running().getInfo().isListener()) {
              // Its last step completes the future that the request waits for.
              looks.add(threads(looking).stream().anyMatch(thread -> isAt(thread, "runImpl")));
            }
          }
        };
    watch.start();
    Level before = log.getLevel();
    log.setLevel(Level.INFO);
    log.addAppender(watch);
    try {
      change("meta", group -> group.voters().add(voter));
      Wait.until(() -> follower.voters().names().contains(voter));
      Wait.until(follower.voters()::hearsLeader);
      assertThat(looks).isNotEmpty().containsOnly(false);
    } finally {
      log.detachAppender(watch);
      log.setLevel(before);
    }
  }

  private static List<Thread> threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name))
        .toList();
  }

  private static boolean isAt(Thread thread, String method) {
    return Stream.of(thread.getStackTrace()).anyMatch(at -> at.getMethodName().equals(method));
  }

  private static boolean waitsForLock(String method) {
    return Thread.getAllStackTraces().entrySet().stream()
        .filter(each -> each.getKey().getState() == Thread.State.BLOCKED)
        .anyMatch(
            each ->
                Stream.of(each.getValue())
                    .anyMatch(frame -> frame.getMethodName().startsWith(method)));
  }

  /** An empty node takes the place of one: in meta it follows without a vote. */
  private String startWithoutAVote() throws Exception {
    String guest = other(leader("d0"));
    stop(guest);
    CompletableFuture<TestNode> empty = start(guest, "2");
    Wait.until(() -> stage(guest) == Stage.WAITING);
    String voter = lines.of(guest).info.voter();
    each(List.of("meta", "d0"), name -> change(name, group -> group.voters().remove(guest, voter)));
    invite(guest);
    change("meta", group -> group.voters().addListener(voter));
    // As if the change was lost and repeated.
    change("meta", group -> group.voters().addListener(voter));
    change("d0", group -> group.voters().add(voter));
    started(empty);
    return guest;
  }

  @Test
  void whoFollowsWithoutAVoteStandsForNoElectionAndMayGetAVoteLater() throws Exception {
    String guest = startWithoutAVote();
    String voter = lines.of(guest).info.voter();
    LogGroup follows = nodes.get(guest).node.meta();
    assertThat(follows.voters().names()).hasSize(2).doesNotContain(voter);
    assertThat(follows.voters().listeners()).containsExactly(voter);
    Wait.until(() -> follows.leadership().leader() != null);

    // Without a leader, it neither leads nor closes its log.
    String gone = leader("meta");
    String home = home(gone);
    stop(gone);
    Wait.until(() -> follows.leadership().leader() == null);
    started(start(gone, home));
    leader("meta");
    Wait.until(() -> follows.leadership().leader() != null);
    assertThat(nodes.get(guest).node.failure()).isNotDone();

    // After a restart, it is the same; then its vote counts.
    stop(guest);
    LogGroup again = started(start(guest, "2")).node.meta();
    assertThat(again.voters().listeners()).containsExactly(voter);
    change("meta", group -> group.voters().add(voter));
    Wait.until(() -> again.voters().names().contains(voter));
    assertThat(again.voters().listeners()).isEmpty();
    String other = other(guest);
    stop(other);
    leader("meta");
  }

  @Test
  void aBusyLeaderGivesUpOneThatIsToGetAVoteAndDoesNotAnswer() throws Exception {
    String lost = other(leader("d0"));
    stop(lost);
    LogGroup leader = group(leader("d0"), "d0");
    change("d0", group -> group.voters().remove(lost, null));
    underLoad(
        () -> {
          CompletableFuture<Void> added = leader.voters().add(lost);
          Wait.until(added::isDone);
          assertThat(added).isCompletedExceptionally();
        });
    // The next change is not refused because of that one.
    change("d0", group -> group.voters().remove(lost, null));
  }

  @Test
  @Tag("full")
  void aFollowerOpensItsLogAgainWhileTheLeaderIsBusy() throws Exception {
    String follower = other(leader("d0"));
    TestNode opening = nodes.get(follower);
    RaftLogGroup group = opening.node.groups().get(1);
    underLoad(
        () -> {
          for (int i = 0; i < REOPENED; i++) {
            opening.node.reopen(group);
            await()
                .atMost(TestNode.PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> !opening.node.isReopening(group) && group.division().isAlive());
          }
        });
    awaitEntries(opening);
  }

  @Test
  void aNodeWhoseCopyWasDroppedHasNoVoteUntilItHasTheEntryThatGaveIt() throws Exception {
    String follower = other(leader("d0"));
    String voter = lines.of(follower).info.voter();
    times(20, i -> appends.append("early"));
    change("d0", group -> group.voters().remove(follower, null));
    appends.append("without it");
    long above = group(leader("d0"), "d0").status().commitIndex();
    drop(follower, above);
    RaftLogGroup dropped = nodes.get(follower).node.groups().get(1);
    assertThat(dropped.isVoteless()).isTrue();
    assertThat(dropped.copy().adapter().keptOut()).isTrue();

    // As long as it has no vote, it may be stopped at any time.
    stop(follower);
    started(start(follower, "1"));
    RaftLogGroup again = nodes.get(follower).node.groups().get(1);
    assertThat(again.isVoteless()).isTrue();
    change("d0", group -> group.voters().add(voter));
    Wait.until(() -> !again.isVoteless());
    Wait.until(() -> !again.copy().adapter().keptOut());
    assertThat(temp.resolve("1/" + follower + "/dropped/d0")).doesNotExist();

    // Its vote counts, and stays through a restart.
    stop(follower);
    started(start(follower, "1"));
    String other = other(follower);
    stop(other);
    appends.append("after");
    awaitEntries(nodes.get(follower));
  }

  /** It has heard that it is to be removed, and perhaps nobody tells it more. */
  @Test
  void aVoterThatStopsWhileItIsBeingRemovedStartsAgain() throws Exception {
    appends.append("first");
    String leader = leader("d0");
    var others = nodes.keySet().stream().filter(id -> !id.equals(leader)).sorted().toList();
    String removed = others.get(0);
    String away = others.get(1);
    TestNode leaving = nodes.get(removed);
    leaving.node.setPeers(leaving.node.peers());
    String voter = lines.of(removed).info.voter();
    // One of those that are to stay is away: the change begins, and does not end.
    stop(away);
    group(leader, "d0").voters().remove(removed, null);
    Wait.until(() -> !leaving.log("d0").voters().names().contains(voter));
    stop(removed);
    started(start(removed, "1"));

    started(start(away, "1"));
    Wait.until(() -> group(leader("d0"), "d0").voters().names().size() == 2);
    change("d0", group -> group.voters().add(voter));
    appends.append("last");
    awaitEntries(nodes.get(removed));
  }

  /** The engine cannot lead while one that follows is just getting its vote. */
  @Test
  void aLeaderIsFoundWhileOneThatFollowsIsToGetAVote() throws Exception {
    String guest = startWithoutAVote();
    String voter = lines.of(guest).info.voter();
    String leader = leader("meta");
    String away =
        nodes.keySet().stream()
            .filter(id -> !id.equals(guest) && !id.equals(leader))
            .findFirst()
            .orElseThrow();
    Map<String, String> homes = Map.of(leader, home(leader), away, home(away));
    // The change begins, and does not end before the leader stops.
    stop(away);
    group(leader, "meta").voters().add(voter);
    RaftServer.Division changing = nodes.get(leader).log("meta").division().running();
    Wait.until(() -> !changing.getRaftConf().getPreviousPeers().isEmpty());
    stop(leader);
    List<CompletableFuture<TestNode>> starts = new ArrayList<>();
    List.of(leader, away).forEach(id -> starts.add(start(id, homes.get(id))));
    each(starts, start -> started(start));
    change("meta", group -> group.voters().add(voter));
    LogGroup follows = nodes.get(guest).node.meta();
    Wait.until(() -> follows.voters().names().contains(voter));
  }

  /** The engine would copy the snapshot, go back to it, and fail with the next entry. */
  @Test
  void oneThatFollowsGetsItsVoteWithoutASnapshotOlderThanItsLog() throws Exception {
    String guest = startWithoutAVote();
    String voter = lines.of(guest).info.voter();
    RaftLogGroup leader = nodes.get(leader("meta")).log("meta");
    // More than a file of the log: the leader's log begins behind the snapshot of the guest.
    ByteBuffer large = ByteBuffer.allocate(6_000).put(RocksState.ALONE);
    times(100, i -> leader.append(large.duplicate().rewind(), List.of()).get(10, TimeUnit.SECONDS));
    leader.copy().snapshot().get(10, TimeUnit.SECONDS);
    times(5, i -> TestNode.append(leader, "behind it").get(10, TimeUnit.SECONDS));
    long last = leader.status().appliedIndex();
    RaftLogGroup follows = nodes.get(guest).log("meta");
    assertThat(leader.copy().firstIndex())
        .isGreaterThan(follows.copy().adapter().snapshotIndex() + 1);
    Wait.until(() -> follows.status().appliedIndex() >= last);
    change("meta", group -> group.voters().add(voter));
    Wait.until(() -> follows.voters().names().contains(voter));
    assertThat(nodes.get(guest).state("meta").restores).hasValue(0);
    TestNode.append(leader, "last").get(10, TimeUnit.SECONDS);
  }

  private void invite(String id) {
    var any = nodes.values().iterator().next().node;
    String incarnation = lines.of(id).info.incarnation();
    lines
        .of(id)
        .invitations
        .add(new PeerLink.Invitation(any.clusterId(), 1, incarnation, List.of()));
    Wait.until(() -> stage(id) == Stage.FORMED);
  }

  private void stop(String id) {
    lines.cut(id);
    nodes.remove(id).close();
  }

  private String other(String than) {
    return nodes.keySet().stream().filter(id -> !id.equals(than)).findFirst().orElseThrow();
  }

  private String home(String id) {
    return nodes.get(id).groupDirectory("d0").toString().contains("/2/") ? "2" : "1";
  }

  private void drop(String node, long above) {
    await()
        .atMost(TestNode.PATIENCE)
        .ignoreExceptions()
        .until(
            () -> {
              TestNode from = nodes.get(node);
              from.node.setPeers(from.node.peers());
              from.node.dropCopy(from.d0(), above).get(10, TimeUnit.SECONDS);
              return true;
            });
  }

  private void underLoad(Executable action) throws Exception {
    AtomicBoolean busy = new AtomicBoolean(true);
    Thread load =
        new Thread(
            () -> {
              while (busy.get()) {
                appends.append("load");
              }
            });
    load.start();
    try {
      action.execute();
    } catch (Throwable e) {
      throw new AssertionError(e);
    } finally {
      busy.set(false);
      load.join();
    }
  }

  private void awaitEntries(TestNode node) {
    Wait.untilAsserted(() -> appends.assertAllIn(node.state("d0").entries()));
  }

  private Stage stage(String id) {
    TestLines.Line link = lines.of(id);
    return link == null || link.info == null ? null : link.info.stage();
  }

  private CompletableFuture<TestNode> start(String id, String disk) {
    Path home = temp.resolve(disk).resolve(id);
    LogSettings settings = TestNode.settings(id, home, peers, 1, 1_000_000);
    CompletableFuture<TestNode> started = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                TestNode node = new TestNode(settings, TestNode.live(home), lines.line(id));
                nodes.put(id, node);
                started.complete(node);
              } catch (LogStartException | RuntimeException e) {
                started.completeExceptionally(e);
              }
            },
            "start-" + id);
    thread.setDaemon(true);
    thread.start();
    return started;
  }

  private static TestNode started(CompletableFuture<TestNode> start) throws Exception {
    return start.get(2 * TestNode.PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private static LogGroup group(TestNode node, String name) {
    return name.equals("meta") ? node.node.meta() : node.d0();
  }

  private LogGroup group(String node, String name) {
    return group(nodes.get(node), name);
  }

  /** Waits for a leader that is ready. */
  private String leader(String name) {
    return await()
        .atMost(TestNode.PATIENCE)
        .pollDelay(Duration.ZERO)
        .until(
            () ->
                nodes.entrySet().stream()
                    .filter(e -> group(e.getValue(), name).leadership().ready())
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElse(null),
            Objects::nonNull);
  }

  private interface Change {
    CompletableFuture<Void> on(LogGroup group);
  }

  /** As the leader of the moment; one that changes, or is busy with a change, is asked again. */
  private void change(String name, Change change) {
    await()
        .atMost(TestNode.PATIENCE)
        .pollDelay(Duration.ZERO)
        .until(
            () -> {
              try {
                change.on(group(leader(name), name)).get();
                return true;
              } catch (ExecutionException e) {
                assertThat(e.getCause()).isInstanceOf(RefusedException.class);
                return false;
              }
            });
  }
}
