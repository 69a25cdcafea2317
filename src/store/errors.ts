import { GatewayError } from "../model/errors/errors.ts";

/**
 * The database could not do what was asked, through no fault of the statement: the disk is full, the server is away or
 * too slow, somebody else holds the file, the store is being closed. Nothing of a write was stored. Answered as 503.
 *
 * Reads and commits of both engines throw it for everything that is not a statement's own fault, so `instanceof` is the
 * one question to ask: what was received must then not be acknowledged, and what was wanted may be tried again.
 */
export class StorageUnavailable extends GatewayError {
  /** @param reason for people; @param wanted what the database was asked to do */
  constructor(reason: string, options: { cause?: unknown; wanted?: "read" | "written" } = {}) {
    const { cause, wanted = "written" } = options;
    super("UNAVAILABLE", `The database cannot be ${wanted}: ${reason}. Try again later.`, { retryAfter: 5 });
    this.name = "StorageUnavailable";
    if (cause !== undefined) this.cause = cause;
  }
}

/**
 * Nobody can tell whether this unit was written: the database went away before it said so, and stayed away. Whoever does
 * the work again must read first.
 */
export class CommitUncertain extends StorageUnavailable {
  constructor(reason: string, cause: unknown) {
    super(`${reason}; the write may or may not have happened`, { cause });
    this.name = "CommitUncertain";
  }
}

/**
 * Another process has the number that this unit was written for: nothing was stored, and whoever wrote it stops to work for
 * that number. The new owner finds in the rows what is left to do.
 */
export class NotOwner extends StorageUnavailable {
  readonly deviceId: number;

  constructor(deviceId: number) {
    super("another node has this number now");
    this.deviceId = deviceId;
    this.name = "NotOwner";
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
