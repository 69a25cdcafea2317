/** Runs one piece of work after the other, in the order of the calls. A failure is its caller's and holds up nothing. */
export type Sequence = <T>(work: () => Promise<T>) => Promise<T>;

/** Nothing runs yet. */
export function createSequence(): Sequence {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** A {@link Sequence} for what may be left out: null, and nothing is run, while as many as it takes are not done. */
export type ShortSequence = <T>(work: () => Promise<T>) => Promise<T> | null;

/** @param most that wait or run at a time */
export function createShortSequence(most: number): ShortSequence {
  const inTurn = createSequence();
  let waiting = 0;
  return (work) => {
    if (waiting >= most) return null;
    waiting++;
    return inTurn(work).finally(() => waiting--);
  };
}
