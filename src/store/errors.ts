import { GatewayError } from "../model/errors.ts";

/** The disk is full, or the database is away or broken: nothing of this unit was written. Answered as 503. */
export class StorageUnavailable extends GatewayError {
  constructor(reason: string, options?: { cause: unknown }) {
    super("UNAVAILABLE", `The database cannot be written: ${reason}. Try again later.`, { retryAfter: 5 });
    this.name = "StorageUnavailable";
    if (options) this.cause = options.cause;
  }
}

/** A unit that broke a UNIQUE, NOT NULL, CHECK or primary key rule: none of its statements took effect. */
export class ConstraintViolation extends Error {
  /** Index of the statement within the unit. */
  readonly statement: number;

  constructor(reason: string, statement: number, cause: unknown) {
    super(reason, { cause });
    this.name = "ConstraintViolation";
    this.statement = statement;
  }
}
