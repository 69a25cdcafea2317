import { defineApi } from "../src/api/define-api.ts";
import { createUpload } from "../src/api/endpoints/uploads.ts";
import { findSender } from "../src/api/access/senders.ts";
import { iso } from "../src/api/views/views.ts";

/** `POST /uploads`: one part of a file. */
export default defineApi(createUpload, async ({ app, caller, input }) => {
  const { id: deviceId } = findSender(app, caller, input.sender);
  const { data, after = null, size = null, name = "" } = input;
  const bytes = Buffer.from(data, "base64");
  const part = await app.files.uploads.add({ deviceId, bytes, after, size, name });
  const { id, received, url, expiresAt } = part;
  return { data: { id, received, url, expires_at: iso(expiresAt) } };
});
