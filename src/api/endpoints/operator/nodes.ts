import { z } from "zod";
import { endpoint } from "../../endpoint.ts";
import { listOf } from "../../schemas/answer.ts";
import { node } from "../../schemas/gateway-health.ts";

/** `GET /admin/nodes`: a process that is alone is the only one. */
export const listNodes = endpoint({
  method: "GET",
  path: "/admin/nodes",
  access: { by: "operator" },
  summary: "Nodes on this database, and how many numbers each has",
  bounded: "one entry for each running node, whether three or a hundred.",
  message: "Nodes.",
  input: z.object({}),
  output: listOf(node),
});
