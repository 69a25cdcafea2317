import { z } from "zod";
import { ownNumber } from "../../model/fields.ts";
import { endpoint } from "../endpoint.ts";
import { record } from "../schemas/answer.ts";
import { traffic, trafficHours } from "../schemas/traffic.ts";

const bounded = "one entry for each five minutes of a day, or for each hour of at most 90 days.";

/** `GET /traffic` */
export const getTraffic = endpoint({
  method: "GET",
  path: "/traffic",
  access: { by: "key", permission: "devices" },
  summary: "How many messages came, went, failed and were answered, and how fast, for charts",
  message: "Traffic.",
  errors: ["SENDER_NOT_FOUND"],
  input: z.object({ hours: trafficHours, sender: ownNumber().optional() }),
  bounded,
  output: record(traffic),
});

/** `GET /admin/traffic` */
export const getAllTraffic = endpoint({
  method: "GET",
  path: "/admin/traffic",
  access: { by: "operator" },
  summary: "The same of all numbers of all accounts together",
  message: "Traffic.",
  input: z.object({ hours: trafficHours }),
  bounded,
  output: record(traffic),
});
