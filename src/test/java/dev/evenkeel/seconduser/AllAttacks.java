package dev.evenkeel.seconduser;

import java.util.List;

/** All attacks. */
final class AllAttacks {
  /** By what they attack. */
  static final List<List<Attack>> FAMILIES =
      List.of(
          TableAttacks.ALL,
          WaitAttacks.ALL,
          MemberAttacks.ALL,
          HttpAttacks.ALL,
          ConnectionAttacks.ALL,
          MessageAttacks.ALL);

  static final List<Attack> ALL = FAMILIES.stream().flatMap(List::stream).toList();

  private AllAttacks() {}

  static Attack named(String name) {
    return ALL.stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("there is no attack " + name));
  }
}
