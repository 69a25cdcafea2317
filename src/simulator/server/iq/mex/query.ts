import type { Device } from "../../../world/accounts.ts";

/** One query of the GraphQL service. A new group of them is a file with a table by query id. */
export interface MexQuery {
  /** The field of `data` that holds the answer. */
  field: string;
  /** @throws MexError to refuse */
  answer(question: { device: Device; variables: Record<string, unknown> }): unknown;
}

/** A refusal inside the answer, GraphQL style. */
export class MexError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
