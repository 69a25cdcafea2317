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
