package dev.evenkeel.dedup;

/** A claim that other processes see: it carries how long it may stay the head. */
public final class SharedClaim extends Claim {
  final long headMillisMax;
  private final long waitsUntilMillis;

  /**
   * @param headMillisMax after so long at work it is evicted
   * @param waitsUntilMillis no sooner than this does it begin without being the head, by {@link
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
}
