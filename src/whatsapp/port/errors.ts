/** Thrown by `groups()` and `group()` when WhatsApp answers `rate-overlimit`. */
export class RateOverlimit extends Error {
  constructor() {
    super("WhatsApp limits how often groups may be read (429 rate-overlimit).");
  }
}

/** There is no passkey request to answer, or to confirm, at the moment. */
export class NoPasskeyRequest extends Error {
  constructor() {
    super("WhatsApp is not asking for a passkey now.");
  }
}

/** WhatsApp has refused a step of linking with a passkey. `code` is WhatsApp's, 0 when it gave none. */
export class PasskeyRefused extends Error {
  readonly code: number;

  constructor(code: number, reason: string) {
    super(reason);
    this.code = code;
  }
}

/** WhatsApp does not let a number be linked by code. `code` is WhatsApp's, 0 when it gave none. */
export class LinkingCodeRefused extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`WhatsApp refuses to link by code (${code}).`);
    this.code = code;
  }
}
