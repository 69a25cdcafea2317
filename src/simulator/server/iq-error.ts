/** A refusal of an IQ: `<error code text backoff?/>`. */
export class IqError extends Error {
  readonly code: number;
  /** Seconds after which the client may ask again. */
  readonly backoff: number | undefined;

  constructor(code: number, text: string, { backoff }: { backoff?: number | undefined } = {}) {
    super(text);
    this.code = code;
    this.backoff = backoff;
  }
}

/** A request that no well-behaved client sends; it is refused and recorded as a violation. */
export class MalformedIq extends IqError {
  readonly detail: string;

  constructor(detail: string) {
    super(400, "bad-request");
    this.detail = detail;
  }
}
