import type { ForwardDraft } from "../../model/content/drafts.ts";
import type { OutgoingFiles, OwnFiles, UploadTarget } from "../../model/media/media.ts";
import { HOUR_MS } from "../../model/time.ts";
import type { StoredFile } from "../content/to-whatsapp-media.ts";
import { mediaKeyMadeAt, mediaSource } from "./download.ts";
import type { MediaHostsSource } from "./hosts.ts";
import { FRESH_MS, UploadFailed, type Uploads } from "./upload.ts";

/** Files of messages that are handed on, where those who get them can load them. */
export interface ForwardedFiles {
  /**
   * Stores the file at WhatsApp as an own one, if WhatsApp has it no more, or not in the form that the target takes.
   *
   * @returns null: it lies where its message says
   * @throws {UploadFailed}, and what `OwnFiles.make` throws
   */
  ensure(draft: ForwardDraft, target: UploadTarget): Promise<StoredFile | null>;
  /** Where it was stored as an own file; null: nowhere, as far as is known. */
  known(draft: ForwardDraft, target: UploadTarget): Promise<StoredFile | null>;
}

interface ForwardedDeps {
  deviceId: number;
  files: Pick<OutgoingFiles, "load">;
  own: OwnFiles;
  uploads: Uploads;
  hosts: MediaHostsSource;
  now: () => number;
}

/** Clocks of phones may be ahead by so much. */
const AHEAD_MS = HOUR_MS;

/** Of one connection. */
export function createForwardedFiles(deps: ForwardedDeps): ForwardedFiles {
  const { deviceId, files, own, uploads, hosts, now } = deps;

  async function isLoadable(raw: string): Promise<boolean> {
    const source = mediaSource(raw);
    // What came from a channel has no key: whoever gets it in a chat could not open it.
    if (source?.directPath == null || source.key === null) return false;
    const age = now() - (mediaKeyMadeAt(raw) ?? 0);
    return (age > -AHEAD_MS && age < FRESH_MS) || uploads.isThere(source.directPath, hosts);
  }

  return {
    async ensure(draft, target) {
      if (target === "chats" && (await isLoadable(draft.raw))) return null;
      const stored = await uploads.ensure(await own.make(deviceId, draft), target, hosts);
      // It was deleted for its age in this very moment: the next attempt makes it once more.
      if (stored === null)
        throw new UploadFailed("The file that was made of the forwarded one is gone.", null);
      return stored;
    },
    async known(draft, target) {
      const file = await files.load(own.idOf(deviceId, draft));
      const upload = file?.uploaded(target);
      return file && upload ? { facts: file.facts, upload, target } : null;
    },
  };
}
