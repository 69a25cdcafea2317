/** A refusal of an IQ: `<error code text/>`. */
export class IqError extends Error {
  readonly code: number;

  constructor(code: number, text: string) {
    super(text);
    this.code = code;
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
