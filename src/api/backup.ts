import { Raw } from "./envelope.ts";
import { asStream } from "./media.ts";
import type { App } from "./services.ts";

/** @throws RATE_LIMITED, UNAVAILABLE when no copy can be made now; nothing has been answered yet then */
export async function giveBackup(app: App): Promise<Raw> {
  const { fileName, body } = await app.backups.make();
  return new Raw(asStream(body), {
    "content-type": "application/x-tar",
    "content-disposition": `attachment; filename="${fileName}"`,
  });
}
