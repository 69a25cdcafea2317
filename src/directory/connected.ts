import { GatewayError } from "../model/errors/errors.ts";

/** @throws UNAVAILABLE while the number has no open connection */
export function connected<Line>(line: Line | null): Line {
  if (line !== null) return line;
  const message = "The number is not connected at the moment. Try again soon.";
  throw new GatewayError("UNAVAILABLE", message, { retryAfter: 5 });
}
