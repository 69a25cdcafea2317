import { HTTPResponse, type H3Event } from "h3";
import routes from "#routes";
import { GatewayError } from "../../model/errors/errors.ts";
import { CONSOLE_PATH, isOfConsole } from "../console.ts";
import { failed } from "./envelope.ts";
import { requestId, respond } from "./respond.ts";

/** Methods of the path, in the order of the specification's writing; empty when there is no such path. */
export function allowedMethods(path: string): string[] {
  const here = new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method));
  if (here.size === 0) return [];
  return [...METHODS.filter((method) => here.has(method)), "OPTIONS"];
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/** Answers whatever no route has matched: the console, OPTIONS, a wrong method, or a path that does not exist. */
export async function answerUnmatched(event: H3Event): Promise<HTTPResponse> {
  const { pathname } = event.url;
  const isGet = event.req.method === "GET";
  const isHome = pathname === "/";
  if (isHome && isGet) return wantsPage(event) ? leadHome(event) : respond(event, failed(notFound()));
  const { console } = event.context;
  const isConsole = console?.isBuilt === true && isOfConsole(pathname);
  const ofEndpoint = allowedMethods(pathname);
  if (isConsole && isGet && ofEndpoint.length === 0)
    return (await console.answer(event)) ?? respond(event, failed(notFound()));
  const ofPage = isConsole || isHome ? ["GET", "OPTIONS"] : [];
  const allowed = ofEndpoint.length > 0 ? ofEndpoint : ofPage;
  if (allowed.length === 0) return respond(event, failed(notFound()));
  const allow = allowed.join(", ");
  if (event.req.method === "OPTIONS")
    return new HTTPResponse(null, { status: 204, headers: { allow, "x-request-id": requestId(event) } });
  const refusal = new GatewayError(
    "METHOD_NOT_ALLOWED",
    `${event.req.method} is not allowed here; use ${allow}.`,
    { headers: { allow } },
  );
  return respond(event, failed(refusal));
}

/** Browsers say so; programs take anything, and are told that there is nothing here. */
const wantsPage = (event: H3Event): boolean =>
  (event.req.headers.get("accept") ?? "").toLowerCase().includes("text/html");

function leadHome(event: H3Event): HTTPResponse {
  const location = event.context.console?.isBuilt === true ? CONSOLE_PATH : "/docs";
  const headers = { location, "cache-control": "no-store", "x-request-id": requestId(event) };
  return new HTTPResponse(null, { status: 302, headers });
}

/** The same words for a path, an id and a number: nobody learns what exists elsewhere. */
export const notFound = (): GatewayError => new GatewayError("NOT_FOUND", "Not found.");
