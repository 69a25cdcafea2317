import { defineApi } from "../src/api/define-api.ts";
import { resolveLid } from "../src/api/endpoints/contacts.ts";
import { JsonResult } from "../src/api/answers/envelope.ts";
import { findSender, requireLinked } from "../src/api/access/senders.ts";

/** `POST /resolve-lid`: an unknown LID is an answer (HTTP 200, status false), not an error. */
export default defineApi(resolveLid, async ({ app, caller, input }) => {
  const device = findSender(app, caller, input.sender);
  requireLinked(app, device);
  const number = await app.lids.resolve(device.id, input.lid);
  if (number !== null) return { lid: input.lid, number };
  const fields = { lid: input.lid, number, errors: { code: "NUMBER_NOT_AVAILABLE" } };
  return new JsonResult(fields, { status: false, message: "The number of this LID is not available." });
});
