import { RawResult } from "../answers/envelope.ts";
import { asStream } from "./files/media.ts";
import type { App } from "../services.ts";

/** @throws RATE_LIMITED, UNAVAILABLE when no copy can be made now; nothing has been answered yet then */
export async function giveBackup(app: App): Promise<RawResult> {
  const { fileName, body } = await app.backups.make();
  return new RawResult(asStream(body), {
    "content-type": "application/x-tar",
    "content-disposition": `attachment; filename="${fileName}"`,
  });
}
