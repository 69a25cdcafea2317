/**
 * `not_allowed`: a private address, or a scheme other than http and https · `unreachable`: no connection, or it broke ·
 * `timeout` · `too_large` · `encoded`: the response is compressed although Parley asked for no compression · `redirects`: too
 * many
 */
export type OutboundProblem =
  | "not_allowed"
  | "unreachable"
  | "timeout"
  | "too_large"
  | "encoded"
  | "redirects";

/** A request to another system that got no usable response. The message is fit for the customer and holds no URL. */
export class OutboundError extends Error {
  readonly problem: OutboundProblem;
  /** HTTP status of a response that cannot be used (`too_large`, `encoded`): it tells whether the request succeeded. */
  readonly status: number | null;

  constructor(problem: OutboundProblem, message: string, options: { cause?: unknown; status?: number } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "OutboundError";
    this.problem = problem;
    this.status = options.status ?? null;
  }
}
