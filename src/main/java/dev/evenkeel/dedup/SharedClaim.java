package dev.evenkeel.dedup;

/** A claim that all processes see. It says how long it may stay the head. */
public final class SharedClaim extends Claim {
  final long headMillisMax;
  private final long waitsUntilMillis;

  /**
   * @param headMillisMax it is evicted after working for this time
   * @param waitsUntilMillis it does not begin before this time without being the head, by {@link
   *     SharedAutomata#nowMillis}
   */
  public SharedClaim(Worker worker, long token, long headMillisMax, long waitsUntilMillis) {
    this(worker, token, headMillisMax, waitsUntilMillis, 0);
  }

  SharedClaim(
      Worker worker, long token, long headMillisMax, long waitsUntilMillis, long sinceMillis) {
    super(worker, token, sinceMillis);
    this.headMillisMax = headMillisMax;
    this.waitsUntilMillis = waitsUntilMillis;
  }

  @Override
  public long waitsUntilMillis() {
    return waitsUntilMillis;
  }

  /** Without what says whose it is: only its times are left. */
  public SharedClaim anonymous() {
    Worker nobody = new Worker("", worker.shard(), 0);
    return new SharedClaim(nobody, 0, headMillisMax, waitsUntilMillis, sinceMillis);
  }
}
