import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { failed } from "../api/answers/envelope.ts";
import { requestIdFrom } from "../api/answers/request-id.ts";
import { shownStatus } from "../api/answers/respond.ts";
import { GatewayError } from "../model/errors/errors.ts";
import { headersTooLarge, requestLineTooLong } from "./head.ts";

/** Answers in JSON what never becomes a request to an endpoint, and ends its connection. */
export interface Refusals {
  /** A request whose head was read: the answer goes its ordinary way. */
  request(response: ServerResponse, refusal: GatewayError): void;
  /** What is no request, or not yet one. */
  socket(socket: Socket, refusal: GatewayError): void;
}

/** @param mpwaCompat the clients of MPWA know one status for failures */
export function createRefusals(mpwaCompat: boolean): Refusals {
  const parts = (refusal: GatewayError, requestId: string | undefined) => {
    const answer = failed(refusal);
    return {
      status: shownStatus(answer.httpStatus, mpwaCompat),
      body: JSON.stringify(answer.body),
      headers: {
        "content-type": "application/json; charset=utf-8",
        "cache-control": "no-store",
        "x-request-id": requestIdFrom(requestId),
        ...answer.headers,
        connection: "close",
      } as Record<string, string>,
    };
  };

  return {
    request(response, refusal) {
      const { status, headers, body } = parts(refusal, response.req.headers["x-request-id"]?.toString());
      response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) }).end(body);
    },
    socket(socket, refusal) {
      if (!socket.writable) {
        socket.destroy();
        return;
      }
      const { status, headers, body } = parts(refusal, undefined);
      const lines = Object.entries({ ...headers, "content-length": String(Buffer.byteLength(body)) });
      const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
      socket.end(`HTTP/1.1 ${status} Refused\r\n${head}\r\n${body}`);
    },
  };
}

/**
 * What Node's parser says of bytes that are no request, as the API says it.
 *
 * @param lineEnded whether the request line has come to its end
 */
export function unreadable(code: string | undefined, lineEnded: boolean): GatewayError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return tooSlow();
  if (code === "HPE_HEADER_OVERFLOW") return lineEnded ? headersTooLarge() : requestLineTooLong();
  return new GatewayError("INVALID_PARAMETERS", "This is not a valid HTTP request.");
}

/** 408: the rest of a request did not come in time. */
export const tooSlow = (): GatewayError =>
  new GatewayError("REQUEST_TIMEOUT", "The request did not arrive in full in time; send it again.");
