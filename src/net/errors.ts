/**
 * `not_allowed`: a private address or a scheme other than http and https · `unreachable`: no connection, or it broke ·
 * `timeout` · `too_large` · `encoded`: the answer is compressed although it was asked not to be · `redirects`: too many
 */
export type OutboundProblem =
  | "not_allowed"
  | "unreachable"
  | "timeout"
  | "too_large"
  | "encoded"
  | "redirects";

/** A request to the outside that got no usable answer. The message is fit for the customer and holds no URL. */
export class OutboundError extends Error {
  readonly problem: OutboundProblem;
  /** HTTP status of an answer that cannot be used (`too_large`, `encoded`): whether it was a success is known. */
  readonly status: number | null;

  constructor(problem: OutboundProblem, message: string, options: { cause?: unknown; status?: number } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "OutboundError";
    this.problem = problem;
    this.status = options.status ?? null;
  }
}
