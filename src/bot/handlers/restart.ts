/** Whether a handler may still be begun anew. */
export interface Gate {
  /** Resolves when it is known what was done for the message before. */
  ready(): Promise<unknown>;
  isOpen(): boolean;
  /** The handler is given up: what its steps still give is not kept. */
  shut(): void;
}

/** Begins a handler anew when the person goes on writing. */
export interface Restart {
  /** From now on it is looked whether a newer text has come. Idempotent. */
  begin(gate: Gate): void;
  /** Begins it anew for these messages, when they still wait: then it does not return. */
  resume(together: readonly number[]): Promise<void>;
  /** @param cut called once, when one has come */
  listen(cut: () => void): void;
}
