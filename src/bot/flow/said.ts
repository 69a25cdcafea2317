/** What a flow says from one question to the next. */
export interface Said {
  /** @param isNew false: the code has said something at this place before */
  say(effect: () => void, isNew: boolean): void;
  /** A question has its answer. */
  answered(): void;
  /** Whether this turn has said anything since the last answer. */
  isAnything(): boolean;
  /** A question is asked anew: what stands before it is said again with it, unless it is the same. */
  again(): void;
}

/** @param effects where it puts what is said */
export function createSaid(effects: (() => void)[]): Said {
  let before: (() => void)[] = [];
  let isAnything = false;
  return {
    say(effect, isNew) {
      isAnything ||= isNew;
      (isNew ? effects : before).push(effect);
    },
    answered() {
      before = [];
      isAnything = false;
    },
    isAnything: () => isAnything,
    again: () => void effects.push(...before),
  };
}
