import { z } from "zod";
import { endpoint } from "../endpoint.ts";

const everybody = { by: "everybody" } as const;

/** `GET /openapi.json`: needs no key. */
export const openApi = endpoint({
  method: "GET",
  path: "/openapi.json",
  access: everybody,
  summary: "This description, as OpenAPI 3.1",
  message: "OpenAPI 3.1.",
  input: z.object({}),
  output: z.looseObject({ openapi: z.string() }),
});

/** `GET /docs`: needs no key. */
export const docs = endpoint({
  method: "GET",
  path: "/docs",
  access: everybody,
  summary: "This description, as a page to read",
  message: "A page.",
  input: z.object({}),
  output: z.string(),
  produces: "text/html",
});
