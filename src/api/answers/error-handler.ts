import { defineErrorHandler } from "nitro";
import { HTTPError, type H3Event } from "h3";
import { failed } from "./envelope.ts";
import { failure } from "../define-api.ts";
import { respond } from "./respond.ts";
import { answerUnmatched, notFound } from "./unmatched.ts";

/** Nitro's last resort, for what fails outside `defineApi`. A URL whose escapes are malformed names nothing that exists. */
export default defineErrorHandler(async (error, context) => {
  const event = context as H3Event;
  const isRefusal = HTTPError.isError(error) && !error.unhandled && error.status < 500;
  const { status, body, headers } =
    // The one path without a segment, which no route takes, not even the one that takes all others.
    isRefusal && event.url.pathname === "/"
      ? await answerUnmatched(event)
      : respond(event, isRefusal ? failed(notFound()) : failure(event, error.cause ?? error));
  return new Response(body as string, { status, headers });
});
