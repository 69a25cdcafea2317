import type { CallState } from "../../surface/calls.ts";

/** A call, as the service knows it. */
export interface Call {
  readonly id: string;
  /** Number of the caller. */
  readonly from: string;
  /** Address by which the others are told of the caller. */
  readonly creator: string;
  /** Numbers that were called, and how each of them stands to it. */
  readonly at: Map<string, CallState>;
}

/** Every call that was begun, by its id. */
export class CallBook {
  readonly #calls = new Map<string, Call>();

  begin(call: Call): void {
    this.#calls.set(call.id, call);
  }

  find(id: string): Call | undefined {
    return this.#calls.get(id);
  }
}
