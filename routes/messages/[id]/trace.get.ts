import { traceView } from "../../../src/api/views/conversations.ts";
import { defineApi } from "../../../src/api/define-api.ts";
import { traceMessage } from "../../../src/api/endpoints/conversations.ts";
import { chatFilter, listedDevices } from "../../../src/api/access/senders.ts";
import { notFound } from "../../../src/api/answers/unmatched.ts";

/** `GET /messages/{id}/trace`: why a message was answered as it was. */
export default defineApi(traceMessage, async ({ app, caller, params, input }) => {
  const devices = listedDevices(app, caller, input.sender);
  const id = params["id"];
  const found =
    id === undefined ? null : await app.conversations.traces.of({ id, devices, allowed: chatFilter(caller) });
  if (found === null) throw notFound();
  return { data: traceView(found) };
});
