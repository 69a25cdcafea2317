import { HTTPResponse, type H3Event } from "h3";
import type { HttpAnswer } from "./envelope.ts";
import { requestIdFrom } from "./request-id.ts";

/** The id of this request; made when it is first asked for. */
export function requestId(event: H3Event): string {
  return (event.context.requestId ??= requestIdFrom(event.req.headers.get("x-request-id")));
}

/** Everything that Parley answers leaves here. Nothing is cacheable unless an answer says so. */
export function respond(event: H3Event, { httpStatus, body, raw, headers }: HttpAnswer): HTTPResponse {
  return new HTTPResponse(raw ?? JSON.stringify(body), {
    status: shownStatus(httpStatus, event.context.app?.config.mpwaCompat ?? false),
    headers: {
      "content-type": "application/json; charset=utf-8",
      "cache-control": "no-store",
      "x-request-id": requestId(event),
      ...headers,
    },
  });
}

/** @param mpwaCompat the clients of MPWA know one status for failures */
export function shownStatus(httpStatus: number, mpwaCompat: boolean): number {
  return mpwaCompat && httpStatus >= 400 ? 400 : httpStatus;
}
