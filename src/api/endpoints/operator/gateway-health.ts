import { z } from "zod";
import { endpoint } from "../../endpoint.ts";
import { pageOf, record } from "../../schemas/answer.ts";
import { devicesWanted, gatewayHealth, ownedDevice } from "../../schemas/gateway-health.ts";

/** `GET /admin/health` */
export const getGatewayHealth = endpoint({
  method: "GET",
  path: "/admin/health",
  access: { by: "operator" },
  summary: "How the gateway is: versions, queues, stalls, storage, backups, retention, nodes",
  message: "Health.",
  input: z.object({}),
  bounded: "one entry for each process, and the last 50 stalls.",
  output: record(gatewayHealth),
});

/** `GET /admin/devices` */
export const listAllDevices = endpoint({
  method: "GET",
  path: "/admin/devices",
  access: { by: "operator" },
  summary: "Numbers of all accounts, newest first",
  message: "Devices.",
  input: devicesWanted,
  output: pageOf(ownedDevice),
});
