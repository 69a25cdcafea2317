import { mediaKeys } from "../model/media/media-keys.ts";
import { hasFile, type Draft } from "../model/content/drafts.ts";
import type { Store } from "../store/store.ts";
import { decrypted } from "./incoming-cipher.ts";
import type { OpenedFile } from "./incoming.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { keptFileOf } from "./files.ts";
import { createLinks, type SentTarget } from "./links.ts";
import { hashedIntake } from "./whole-file.ts";

interface SentMediaDeps {
  store: Pick<Store, "readOne" | "box" | "now">;
  config: { publicUrl: string };
  elsewhere: Pick<Elsewhere, "find" | "pathOf">;
  /** A message that was sent; null when it is not kept any more. */
  load(deviceId: number, waId: string): Promise<Draft | null>;
}

/** Files of messages that were sent, for those who list them. */
export interface SentMedia {
  /** The address of a message's file; whether it is kept is asked when somebody opens it. */
  link(target: SentTarget): string;
  /**
   * @returns null when message or file are not kept any more
   * @throws {GatewayError} UNAVAILABLE: the file lies where it cannot be had now
   */
  open(target: SentTarget): Promise<OpenedFile | null>;
}

/** Gives away what lies on the disk to be sent, decrypted. */
export function createSentMedia({ store, config, elsewhere, load }: SentMediaDeps): SentMedia {
  const links = createLinks(store.box, store.now);
  return {
    link: (target) => `${config.publicUrl}/media/${links.make(target)}`,

    async open({ deviceId, waId }) {
      const draft = await load(deviceId, waId);
      if (draft === null || !hasFile(draft)) return null;
      const kept = await keptFileOf(store, draft.file);
      if (kept === null) return null;
      const { facts } = kept;
      if (!(await elsewhere.find(draft.file, () => hashedIntake(facts.encSha256)))) return null;
      const path = elsewhere.pathOf(draft.file);
      const keys = mediaKeys(Buffer.from(facts.mediaKey, "base64"), facts.kind);
      return {
        mimetype: facts.mimetype,
        fileName: draft.fileName ?? "",
        kind: draft.kind,
        size: facts.size,
        body: decrypted(path, keys, Buffer.from(facts.sha256, "base64")),
      };
    },
  };
}
