import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { listOf } from "../schemas/answer.ts";
import { node } from "../schemas/overview.ts";

/** `GET /admin/nodes`: a process that is alone is the only one. */
export const listNodes = endpoint({
  method: "GET",
  path: "/admin/nodes",
  access: { by: "operator" },
  summary: "Processes that run on this database, and how many numbers each has",
  bounded: "one for each process that runs, three or a hundred.",
  message: "Nodes.",
  input: z.object({}),
  output: listOf(node),
});
