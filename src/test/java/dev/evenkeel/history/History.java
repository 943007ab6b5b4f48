package dev.evenkeel.history;

import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.history.Linearizer.Op;
import dev.evenkeel.history.Linearizer.Verdict;
import dev.evenkeel.history.ShardLog.Id;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * What clients asked of shards and what they were answered, for {@link #check}. Any thread may add.
 *
 * <p>Each shard is checked by itself, with all leases on it: linearizability of the whole follows
 * (Herlihy & Wing call it locality).
 *
 * <p><b>Linearizable</b>, so that each call takes effect at one moment between its sending and its
 * answer: {@link #append} and every {@link #command}, with what they answer also where they refuse
 * from the log (FENCED, INVALID, PRODUCER_FENCED, SEQUENCE_GAP, ...). A call without an answer, or
 * with INDETERMINATE, takes effect at one moment after its sending, or never. A call that was
 * refused before the log (NOT_LEADER, UNAVAILABLE, OVERLOADED, ...) never takes effect.
 *
 * <p><b>More weakly</b>: {@link #fetch} and {@link #readLease}. A node that does not know yet that
 * another leads may answer them from a state that is behind. So they show the shard as it was at
 * <em>some</em> moment before their answer: only what is in the log for good, whole batches without
 * a gap from the offset asked for, each at the offset that its append was answered, with the end
 * that the shard had then; and never what is not in the log yet. A fetch by an owner is served only
 * if the lease was held at that epoch at some moment, not necessarily the same: what a fenced owner
 * may still read is not bounded here. Their refusals promise nothing.
 *
 * <p>{@link #transfer} of the lead of a log group changes nothing in any shard: everything above
 * holds across it. It is recorded so that it shows where a history fails. A hand-over of a shard is
 * a drain, a release and a grant, all of them linearizable.
 */
public final class History {
  /** Refusals that come out of the log, and so are checked like any other answer. */
  private static final Set<Refusal> FROM_THE_LOG =
      Set.of(
          Refusal.FENCED,
          Refusal.INVALID,
          Refusal.OFFSET_OUT_OF_RANGE,
          Refusal.SEQUENCE_GAP,
          Refusal.UNKNOWN_PRODUCER,
          Refusal.PRODUCER_FENCED);

  /**
   * A kind of calls.
   *
   * @param weak it shows the shard as it was at some moment
   * @param refusalOf that an answer carries, or null
   * @param answerOf a refusal of the request as an answer, or null if it promises nothing
   * @param text of an answer
   */
  private record Kind<A>(
      boolean weak,
      Function<A, Refusal> refusalOf,
      Function<RefusedException, A> answerOf,
      Function<A, String> text) {}

  private static final Kind<AppendResults.Result> APPEND =
      new Kind<>(false, AppendResults.Result::refusal, no -> null, String::valueOf);

  private static final Kind<Reply> COMMAND =
      new Kind<>(
          false,
          reply -> reply instanceof Reply.Refused no ? no.refusal() : null,
          no -> Reply.refused(no.refusal(), no.getMessage()),
          String::valueOf);

  private static final Kind<Lease> LEASE =
      new Kind<>(true, lease -> null, no -> null, String::valueOf);

  private static final Kind<FetchAnswer> FETCH =
      new Kind<>(true, answer -> null, no -> null, History::text);

  private final LongSupplier clockMillis;
  private final Map<Shard, List<Call<?>>> calls = new TreeMap<>();
  private final List<Call<?>> transfers = new ArrayList<>();
  private long events;

  /**
   * @param clockMillis for those who read it; the order is that of the calls to this object
   */
  public History(LongSupplier clockMillis) {
    this.clockMillis = clockMillis;
  }

  /**
   * One call of a client. Tell it once what it came to; until then its outcome is unknown.
   *
   * @param <A> what it is answered
   */
  public final class Call<A> {
    private final String text;
    private final Kind<A> kind;
    private final List<BiFunction<ShardModel, A, ShardModel>> steps;
    private final long from = ++events;
    private final long sentMillis = clockMillis.getAsLong();
    private long until = Linearizer.UNKNOWN;
    private long answeredMillis;
    private A answer;
    private Refusal refusal;
    private String detail;

    private Call(String text, Kind<A> kind, List<BiFunction<ShardModel, A, ShardModel>> steps) {
      this.text = text;
      this.kind = kind;
      this.steps = steps;
    }

    public void answered(A value) {
      synchronized (History.this) {
        end();
        answer = value;
        refusal = kind.refusalOf().apply(value);
      }
    }

    /** It was refused, by a node or on the way. */
    public void refused(RefusedException no) {
      synchronized (History.this) {
        end();
        refusal = no.refusal();
        detail = no.getMessage();
        answer = FROM_THE_LOG.contains(refusal) ? kind.answerOf().apply(no) : null;
      }
    }

    private void end() {
      if (until != Linearizer.UNKNOWN) {
        throw new IllegalStateException("told twice: " + this);
      }
      until = ++events;
      answeredMillis = clockMillis.getAsLong();
    }

    private boolean isAnswered() {
      return answer != null && (refusal == null || FROM_THE_LOG.contains(refusal));
    }

    private boolean isUnknown() {
      return !kind.weak() && (refusal == null || refusal == Refusal.INDETERMINATE) && !isAnswered();
    }

    private List<Op<ShardModel>> ops() {
      List<Op<ShardModel>> ops = new ArrayList<>();
      A told = isAnswered() ? answer : null;
      if (isAnswered() || isUnknown()) {
        for (BiFunction<ShardModel, A, ShardModel> step : steps) {
          ops.add(
              new Op<>(
                  kind.weak() ? 0 : from,
                  isAnswered() ? until : Linearizer.UNKNOWN,
                  before -> step.apply(before, told)));
        }
      }
      return ops;
    }

    @Override
    public String toString() {
      String came =
          isAnswered()
              ? kind.text().apply(answer)
              : isUnknown() ? "unknown" : "did nothing: " + refusal;
      String more = detail == null ? "" : " (" + detail + ")";
      String when = until == Linearizer.UNKNOWN ? "" : String.valueOf(answeredMillis);
      return sentMillis + ".." + when + " " + text + " -> " + came + more;
    }
  }

  private static String text(FetchAnswer answer) {
    StringBuilder text = new StringBuilder("end " + answer.endOffset());
    for (FetchAnswer.Placed each : answer.batches()) {
      text.append(", ").append(Id.of(each.batch())).append(" at ").append(each.baseOffset());
    }
    return text.toString();
  }

  private synchronized <A> Call<A> add(
      String client,
      Shard shard,
      String what,
      Kind<A> kind,
      List<BiFunction<ShardModel, A, ShardModel>> steps) {
    Call<A> call = new Call<>(client + ": " + what, kind, steps);
    calls.computeIfAbsent(shard, any -> new ArrayList<>()).add(call);
    return call;
  }

  // ---- Recording

  /** One batch. A producer that has a name writes to one shard only. */
  public Call<AppendResults.Result> append(String client, Shard shard, Batch batch) {
    Id id = Id.of(batch);
    return add(
        client,
        shard,
        "append " + id,
        APPEND,
        List.of((before, answer) -> before.append(id, answer)));
  }

  /** Anything about the lease of a group on a shard, but nothing that forgets it. */
  public Call<Reply> command(String client, Shard shard, DataCommand command) {
    return add(
        client,
        shard,
        command.toString(),
        COMMAND,
        List.of((before, answer) -> before.command(command, answer)));
  }

  /** A fetch by an owner, or without a group by anybody. */
  public Call<FetchAnswer> fetch(String client, FetchRequest request) {
    List<BiFunction<ShardModel, FetchAnswer, ShardModel>> steps = new ArrayList<>();
    steps.add((before, answer) -> before.fetched(request, answer));
    if (!request.group().isEmpty()) {
      steps.add((before, answer) -> before.servedTo(request.group(), request.epoch()));
    }
    return add(client, request.shard(), "fetch " + request, FETCH, steps);
  }

  public Call<Lease> readLease(String client, Shard shard, String group) {
    return add(
        client,
        shard,
        "read the lease of " + group,
        LEASE,
        List.of((before, answer) -> before.leaseRead(group, answer)));
  }

  /** The lead of a log group goes to another node. */
  public synchronized void transfer(String what) {
    transfers.add(new Call<Reply>("transfer: " + what, COMMAND, List.of()));
  }

  // ---- Checking

  /** How many calls there are, and how many of these without a known outcome. */
  public synchronized String summary() {
    long all = calls.values().stream().mapToLong(List::size).sum();
    long unknown = calls.values().stream().flatMap(List::stream).filter(Call::isUnknown).count();
    return all
        + " calls to "
        + calls.size()
        + " shards, "
        + unknown
        + " of them of unknown outcome, "
        + transfers.size()
        + " transfers";
  }

  /** Forgets what concerned a shard, as when its topic was deleted. */
  public synchronized void drop(Shard shard) {
    calls.remove(shard);
  }

  /**
   * @throws AssertionError if no order explains what the clients of a shard were answered; it shows
   *     the longest explanation of a beginning, and what does not fit
   */
  public synchronized void check() {
    calls.forEach(this::check);
  }

  private void check(Shard shard, List<Call<?>> ofShard) {
    List<Op<ShardModel>> ops = new ArrayList<>();
    List<Call<?>> callOf = new ArrayList<>();
    for (Call<?> call : ofShard) {
      for (Op<ShardModel> op : call.ops()) {
        ops.add(op);
        callOf.add(call);
      }
    }
    Verdict<ShardModel> verdict = Linearizer.check(ShardModel.EMPTY, ops);
    if (!verdict.linearizable()) {
      throw new AssertionError(new Explanation(shard, verdict, callOf, transfers).text());
    }
  }

  /** Whether it came while one of these was under way. */
  static boolean near(Call<?> transfer, List<Call<?>> shown) {
    return shown.stream().anyMatch(call -> call.from < transfer.from && transfer.from < call.until);
  }
}
