import { z } from "zod";
import { ownNumber } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";
import { stats, statsHours } from "../schemas/stats.ts";

const bounded = "one entry for each hour of at most 90 days.";

/** `GET /stats` */
export const getStats = endpoint({
  method: "GET",
  path: "/stats",
  access: { by: "key", permission: "messages" },
  summary: "How many messages came, went, failed and were answered in each hour, by whom, and how fast",
  message: "Statistics.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({ hours: statsHours, sender: ownNumber().optional() }),
  bounded,
  output: stats,
});

/** `GET /admin/stats` */
export const getAllStats = endpoint({
  method: "GET",
  path: "/admin/stats",
  access: { by: "operator" },
  summary: "The same of all numbers of all accounts together",
  message: "Statistics.",
  input: z.object({ hours: statsHours }),
  bounded,
  output: stats,
});
