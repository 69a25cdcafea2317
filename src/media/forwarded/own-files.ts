import { inbox } from "../../../drizzle/schema.ts";
import type { CameAs, ForwardDraft } from "../../model/content/drafts.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import type { OwnFiles } from "../../model/media/media.ts";
import { OutboundError } from "../../net/errors.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import { decrypted, FileDamaged } from "../incoming-cipher.ts";
import type { Files, Workspace } from "../files.ts";
import type { IncomingFiles, KeptFile } from "../incoming-files.ts";
import { sealAll } from "../seal.ts";

interface OwnFilesDeps {
  store: Pick<Store, "readOne" | "box" | "now">;
  files: Pick<Files, "load" | "keepAs" | "workspace">;
  /** Files that came. */
  kept: Pick<IncomingFiles, "get" | "fetch">;
  /** The gateway waits no longer. */
  stopping: AbortSignal;
}

const ROW_OF = defineQuery(
  "SELECT id FROM inbox WHERE device_id = ? AND wa_id = ? AND chat = ? AND sender = ?",
  { id: inbox.id },
);
const RETRY_AFTER_S = 10;
/** The message that came says what it is; whoever hands it on takes it from there. */
const UNKNOWN = "application/octet-stream";

/** Without a place in any chat, which an earlier version has not stored, no phone can be asked. */
const NOWHERE: Omit<CameAs, "chatKey" | "sender"> = { id: "", chat: "", participant: null, fromMe: false };

/**
 * Makes files to be sent of files that came. The id says of which message: a file is made once for all who get it, and a kill
 * while it is made or uploaded leaves nothing that the next attempt does not find or replace.
 */
export function createOwnFiles({ store, files, kept, stopping }: OwnFilesDeps): OwnFiles {
  const making = new Map<string, Promise<void>>();

  const idOf: OwnFiles["idOf"] = (deviceId, { raw }) =>
    `mf_${store.box.hmac("forwarded-file", `${deviceId}:${raw}`).toString("hex", 0, 12)}`;

  async function came(deviceId: number, draft: ForwardDraft, workspace: Workspace): Promise<KeptFile> {
    const { raw, from } = draft;
    const message = { ...(from ?? NOWHERE), raw };
    const row = from && (await store.readOne(ROW_OF, [deviceId, from.id, from.chatKey, from.sender]));
    if (row) return kept.get(deviceId, row.id, message, stopping);
    return kept.fetch(deviceId, message, workspace.path("came"), stopping);
  }

  async function make(id: string, deviceId: number, draft: ForwardDraft): Promise<void> {
    const workspace = await files.workspace();
    try {
      const { path, keys, sha256 } = await came(deviceId, draft, workspace);
      const made = workspace.path("own");
      const sealed = await sealAll(made, draft.of, decrypted(path, keys, sha256));
      const keyTimestamp = Math.floor(store.now() / 1000);
      await files.keepAs(id, deviceId, made, { kind: draft.of, mimetype: UNKNOWN, keyTimestamp, ...sealed });
    } catch (error) {
      throw asKnown(error);
    } finally {
      await workspace.dispose();
    }
  }

  return {
    idOf,
    async make(deviceId, draft) {
      const id = idOf(deviceId, draft);
      const known = await files.load(id);
      if (known !== null && (await known.ready())) return id;
      const running = making.get(id) ?? make(id, deviceId, draft).finally(() => making.delete(id));
      making.set(id, running);
      await running;
      return id;
    },
  };
}

/** What may pass is told from what is final. */
function asKnown(error: unknown): unknown {
  if (error instanceof FileDamaged) return new GatewayError("FILE_NOT_USABLE", error.message);
  if (!(error instanceof GatewayError) || !mayPass(error.cause)) return error;
  return new GatewayError("UNAVAILABLE", error.message, { retryAfter: RETRY_AFTER_S });
}

/** A host that does not answer, or says that it is in trouble. */
const mayPass = (cause: unknown): boolean =>
  cause instanceof OutboundError &&
  cause.problem === "unreachable" &&
  (cause.status === null || cause.status >= 500 || cause.status === 429);
