import type { proto } from "@whiskeysockets/baileys";
import type { OutgoingFiles, UploadTarget } from "../../model/media/media.ts";
import {
  hasFile,
  type Draft,
  type ForwardDraft,
  type Manner,
  type MediaDraft,
} from "../../model/content/drafts.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import type { SecretBox } from "../../store/store.ts";
import { isChannel, isGroup } from "../jids.ts";
import type { ForwardedFiles } from "../media/forwarded.ts";
import type { MediaHostsSource } from "../media/hosts.ts";
import type { OutgoingMessage, SendOutcome } from "../port.ts";
import type { ChatTimers } from "../send/chat-timers.ts";
import type { Groups } from "../groups/socket-groups.ts";
import { toWhatsApp, type Supplement } from "./to-whatsapp.ts";
import type { StoredFile } from "./to-whatsapp-media.ts";
import { UploadFailed, type Uploads } from "../media/upload.ts";

/** A message as it goes over the wire. */
export interface Composed {
  kind: "composed";
  message: proto.IMessage;
  /** Of files in channels: what the stanza has to name. */
  handle?: string | undefined;
}

/** Turns drafts into protobufs, with what else has to be known or done for it. */
export interface Composer {
  /**
   * Stores the draft's file at WhatsApp when that is still to be done.
   *
   * @param names the chat's other names
   */
  compose(message: OutgoingMessage, names?: string[]): Promise<Composed | SendOutcome>;
  /** What was sent under this id, for a phone that could not read it. @param names the chat's other names */
  again(message: OutgoingMessage, names?: string[]): Promise<proto.IMessage | undefined>;
}

/** What composing needs of its connection. */
export interface ComposerDeps {
  files: OutgoingFiles;
  uploads: Pick<Uploads, "ensure">;
  forwarded: ForwardedFiles;
  hosts: MediaHostsSource;
  groups: Pick<Groups, "isAnnouncements" | "timer" | "cached">;
  timers: Pick<ChatTimers, "of">;
  box: Pick<SecretBox, "hmac">;
}

const FILE_GONE: SendOutcome = { kind: "refused", code: 0, reason: "file_gone" };

/** Composes the messages of one connection; see `Composer`. */
export function createComposer(deps: ComposerDeps): Composer {
  const { files, uploads, forwarded, hosts, groups, timers, box } = deps;

  /** What a message is sent under. Nothing that is meant to disappear is sent without saying so. */
  async function chatOf({ draft, jid }: OutgoingMessage, names: string[]): Promise<Supplement> {
    if (isChannel(jid)) return {};
    if (!isGroup(jid)) return { timer: await timers.of([...new Set([jid, ...names])]) };
    const timer = await groups.timer(jid);
    if (!draft.mentionsAll) return { timer };
    const { participants } = await groups.cached(jid);
    return { timer, members: participants.map(({ id }) => id) };
  }

  async function plain(message: OutgoingMessage, names: string[]): Promise<proto.IMessage> {
    const { draft, waId, jid } = message;
    const inAnnouncements = draft.kind === "poll" && (await groups.isAnnouncements(jid));
    return toWhatsApp(draft, waId, box, { inAnnouncements, ...(await chatOf(message, names)) });
  }

  /** @returns null: it lies where the message that it came with says */
  async function storedFile(draft: FileDraft, target: UploadTarget): Promise<StoredFile | null | "gone"> {
    if (draft.kind === "forward") return forwarded.ensure(draft, target);
    return (await uploads.ensure(draft.file, target, hosts)) ?? "gone";
  }

  async function knownFile(draft: FileDraft, target: UploadTarget): Promise<StoredFile | null> {
    if (draft.kind === "forward") return forwarded.known(draft, target);
    const file = await files.load(draft.file);
    const upload = file?.uploaded(target);
    return file && upload ? { facts: file.facts, upload, target } : null;
  }

  return {
    async compose(message, names = []) {
      const { draft, waId, jid } = message;
      if (!needsFile(draft)) return { kind: "composed", message: await plain(message, names) };
      try {
        const stored = await storedFile(draft, targetOf(jid));
        if (stored === "gone") return FILE_GONE;
        const beside = { ...(stored && { stored }), ...(await chatOf(message, names)) };
        const content = toWhatsApp(draft, waId, box, beside);
        return { kind: "composed", message: content, handle: stored?.upload.handle };
      } catch (error) {
        return failed(error);
      }
    },

    async again(message, names = []) {
      const { draft, waId, jid } = message;
      if (!needsFile(draft)) return plain(message, names);
      const stored = await knownFile(draft, targetOf(jid));
      if (stored === null && draft.kind !== "forward") return undefined;
      return toWhatsApp(draft, waId, box, { ...(stored && { stored }), ...(await chatOf(message, names)) });
    },
  };
}

type FileDraft = (MediaDraft | ForwardDraft) & Manner;

const needsFile = (draft: Draft): draft is FileDraft => hasFile(draft) || draft.kind === "forward";

function failed(error: unknown): SendOutcome {
  if (error instanceof GatewayError) {
    const { code, message: reason } = error;
    if (code === "UNAVAILABLE") return { kind: "unknown", reason, blame: "media" };
    return { kind: "refused", code: 0, reason, error: code };
  }
  if (!(error instanceof UploadFailed)) throw error;
  const { message: reason, status, answered, ofService } = error;
  if (status !== null) return { kind: "refused", code: status, reason };
  return {
    kind: "unknown",
    reason,
    ...(answered !== null && answered >= 400 && { code: answered }),
    ...(ofService && { blame: "media" }),
  };
}

const targetOf = (jid: string): UploadTarget => (isChannel(jid) ? "channel" : "chats");
