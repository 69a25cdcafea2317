import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { MediaStore } from "../../media/store.ts";
import { encryptFile, openFile } from "../../people/messages/media-file.ts";
import type { Random } from "../../random.ts";
import type { AppStateTrouble, CollectionName } from "../../surface/app-state.ts";
import type { ServiceBehaviour } from "../../surface/behaviour.ts";
import { element } from "../../wire/nodes.ts";
import type { Account, Device } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import type { Deliveries, Stamps } from "../ports.ts";

const { SET } = proto.SyncdMutation.SyncdOperation;
/** How many patches one answer holds. */
const AT_ONCE = 3;
/** Older patches are given as a snapshot to whoever asks for one. */
const IN_SNAPSHOT = 4;

const COLLECTIONS: ReadonlySet<string> = new Set([
  "critical_block",
  "critical_unblock_low",
  "regular_high",
  "regular_low",
  "regular",
] satisfies CollectionName[]);

interface Needs extends Deliveries, Stamps {
  media: MediaStore;
  random: Random;
  behaviour: ServiceBehaviour;
}

/** A collection's patches, of which the server reads what it needs to count them and to make snapshots. */
interface Stored {
  patches: proto.ISyncdPatch[];
  trouble?: AppStateTrouble;
}

/** A part of a collection as it is given out. */
export interface CollectionPart {
  version: number;
  patches: Uint8Array[];
  /** `ExternalBlobReference` of a file with everything up to where the patches begin. */
  snapshot?: Uint8Array;
  hasMore: boolean;
}

/** App state of all accounts: sealed patches that the service numbers and hands on. */
export interface AppStates {
  isCollection(name: string): boolean;
  /** What is wrong with what a device is given; owners' phones are given all as it is. */
  trouble(device: Device, name: string): AppStateTrouble | undefined;
  spoil(account: Account, name: CollectionName, trouble: AppStateTrouble | undefined): void;
  version(account: Account, name: string): number;
  /** What follows on a version; everything as a file and what came after it, when that is wanted. */
  read(device: Device, name: string, after: number, wantsSnapshot: boolean): CollectionPart;
  /** Takes the patch that follows on a version; false when there is one already. Other devices are told. */
  write(writer: Device, name: string, after: number, patch: Uint8Array): boolean;
  /** Tells companions, and the phone unless it was the writer, that there is news. */
  announce(account: Account, names: readonly string[], writer?: Device): void;
}

/** App state for one service. Source: whatsmeow `appstate.go`; whatsapp-rust `appstate/src/patch_decode.rs`. */
export function createAppStates(needs: Needs): AppStates {
  const stored = new Map<string, Stored>();
  const of = (account: Account, name: string): Stored => {
    const key = `${account.number} ${name}`;
    const known = stored.get(key) ?? { patches: [] };
    stored.set(key, known);
    return known;
  };
  const states: AppStates = {
    isCollection: (name) => COLLECTIONS.has(name),
    trouble: ({ account, id }, name) => (id === 0 ? undefined : of(account, name).trouble),
    spoil: (account, name, trouble) => void (of(account, name).trouble = trouble),
    version: (account, name) => stored.get(`${account.number} ${name}`)?.patches.length ?? 0,
    read(device, name, after, wantsSnapshot) {
      const { patches } = of(device.account, name);
      const trouble = states.trouble(device, name);
      const upTo = wantsSnapshot && patches.length >= IN_SNAPSHOT ? patches.length - 1 : 0;
      const from = Math.max(after, upTo);
      const part = patches.slice(from, from + AT_ONCE);
      return {
        version: from + part.length,
        patches: part.map((patch) => given(patch, trouble)),
        snapshot: upTo > 0 ? snapshotOf(needs, patches.slice(0, upTo), trouble) : undefined,
        hasMore: from + part.length < patches.length,
      };
    },
    write(writer, name, after, bytes) {
      const { patches } = of(writer.account, name);
      if (after !== patches.length) return false;
      const patch = proto.SyncdPatch.decode(bytes);
      patches.push({ ...patch, version: { version: after + 1 } });
      states.announce(writer.account, [name], writer);
      return true;
    },
    announce(account, names, writer) {
      const news = names.map((name) =>
        element("collection", { name, version: String(states.version(account, name)) }),
      );
      for (const device of account.devices.values()) {
        if (device === writer) continue;
        const attrs = { from: SERVER_JID, type: "server_sync", id: needs.nextId(), t: needs.now() };
        needs.deliver(device, element("notification", attrs, news));
      }
    },
  };
  return states;
}

function given(patch: proto.ISyncdPatch, trouble: AppStateTrouble | undefined): Uint8Array {
  if (trouble === "garbage") return Buffer.from("this is no patch");
  if (trouble === "gone" && patch.externalMutations) {
    const externalMutations = { ...patch.externalMutations, directPath: "/gone" };
    return proto.SyncdPatch.encode({ ...patch, externalMutations }).finish();
  }
  if (trouble !== "spoilt") return proto.SyncdPatch.encode(patch).finish();
  const mutations = (patch.mutations ?? []).map(({ operation, record }) => ({
    operation,
    record: { ...record, value: { blob: spoilt(record?.value?.blob ?? new Uint8Array()) } },
  }));
  return proto.SyncdPatch.encode({ ...patch, mutations }).finish();
}

function spoilt(blob: Uint8Array): Uint8Array {
  const changed = Buffer.from(blob);
  if (changed.length > 0) changed[changed.length >> 1]! ^= 0xff;
  return changed;
}

function mutationsOf(media: MediaStore, { mutations, externalMutations: file }: proto.ISyncdPatch) {
  if (!file?.directPath) return mutations ?? [];
  const claims = { ...file, fileLength: file.fileSizeBytes as number };
  const plain = openFile(media.find(file.directPath)!.bytes, claims, "app-state");
  return proto.SyncdMutations.decode(plain).mutations;
}

/** The file of a snapshot. What proves it is in the last of its patches, so that the server needs no key. */
function snapshotOf(
  { media, random }: Needs,
  patches: readonly proto.ISyncdPatch[],
  trouble: AppStateTrouble | undefined,
): Uint8Array {
  const records = new Map<string, proto.ISyncdRecord>();
  for (const { operation, record } of patches.flatMap((patch) => mutationsOf(media, patch))) {
    const index = Buffer.from(record?.index?.blob ?? []).toString("base64");
    records.delete(index);
    const value = { blob: trouble === "spoilt" ? spoilt(record!.value!.blob!) : record!.value!.blob! };
    if ((operation ?? SET) === SET) records.set(index, { ...record, value });
  }
  const last = patches.at(-1)!;
  const plain = proto.SyncdSnapshot.encode({
    version: { version: patches.length },
    records: [...records.values()],
    mac: last.snapshotMac,
    keyId: last.keyId,
  }).finish();
  const mediaKey = random.fork(`snapshot:${last.patchMac}`).bytes(32);
  const { bytes, fileSha256, fileEncSha256, fileLength } = encryptFile(plain, mediaKey, "app-state");
  const file = media.put("md-app-state", bytes);
  if (trouble === "gone") file.gone = 410;
  const { directPath } = file;
  const reference = { mediaKey, directPath, fileSha256, fileEncSha256, fileSizeBytes: fileLength };
  return proto.ExternalBlobReference.encode(reference).finish();
}
