import type { Time } from "../../time.ts";

/** Things that arrive on their own and are waited for by someone else: each is taken once, the newest first. */
export class NoteBox<T> {
  readonly #time: Time;
  readonly #notes: T[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(time: Time) {
    this.#time = time;
  }

  /** Something has arrived. */
  put(note: T): void {
    this.#notes.push(note);
    for (const look of this.#waiting) look();
  }

  /** Takes the newest that fits, when one is there. */
  takeNow(fits: (note: T) => boolean): T | undefined {
    const index = this.#notes.findLastIndex(fits);
    return index < 0 ? undefined : this.#notes.splice(index, 1)[0];
  }

  /** Takes the newest that fits, or the first that comes; undefined when none comes within the time (milliseconds). */
  async take(fits: (note: T) => boolean, timeoutMs: number): Promise<T | undefined> {
    const note = this.takeNow(fits);
    if (note) return note;
    return await new Promise((resolve) => {
      const finish = (found: T | undefined): void => {
        cancel();
        this.#waiting.delete(look);
        resolve(found);
      };
      const look = (): void => {
        const found = this.takeNow(fits);
        if (found) finish(found);
      };
      const cancel = this.#time.after(timeoutMs, () => finish(undefined));
      this.#waiting.add(look);
    });
  }
}
