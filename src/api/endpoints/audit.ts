import { endpoint } from "../endpoint.ts";
import { record } from "../schemas/answer.ts";
import { audit, auditFilter } from "../schemas/audit.ts";

export const auditDevice = endpoint({
  method: "GET",
  path: "/devices/{number}/audit",
  access: { by: "key", permission: "devices" },
  summary: "Whether messages were lost: compares what WhatsApp announced with what is stored",
  message: "0 messages lost.",
  input: auditFilter,
  bounded: "at most 100 connections and 500 missing messages, the newest.",
  output: record(audit),
});
