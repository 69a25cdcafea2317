import { mediaFiles } from "../../../drizzle/schema.ts";
import type { Config } from "../../config.ts";
import { GatewayError } from "../../model/errors/errors.ts";
import type { FileFacts } from "../../model/media/media.ts";
import { mediaKeys } from "../../model/media/media-keys.ts";
import type { Download } from "../../net/download.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import type { Elsewhere } from "../elsewhere.ts";
import type { Files } from "../files.ts";
import { decrypted } from "../incoming-cipher.ts";
import { tooLarge } from "../incoming-files.ts";
import type { OpenedFile } from "../incoming.ts";
import { createLinks, PART_LIFE_MS, type PartTarget } from "../links.ts";
import { sealAll } from "../seal.ts";
import { hashedIntake } from "../whole-file.ts";

/** One part of a file that a program has no address for. */
export interface NewPart {
  deviceId: number;
  bytes: Buffer;
  /** Id of the part that it follows; null: it is the first. */
  after: string | null;
  /** Bytes of the whole file, when they are known: refused at once when they are too many. */
  size: number | null;
  /** What the file is called; "" when nobody says. */
  name: string;
}

/** A part that is kept, as the end of what was given until now. */
export interface KeptPart {
  id: string;
  /** Bytes of the file up to its end. */
  received: number;
  /** The file up to here, as an address that `/send-media` takes. */
  url: string;
  /** Unix milliseconds. */
  expiresAt: number;
}

/** Files that come in parts, because a request's body is at most 1 MiB. Each part names the one before it. */
export interface Uploads {
  /** @throws {GatewayError} INVALID_PARAMETERS (`after`), FILE_TOO_LARGE */
  add(part: NewPart): Promise<KeptPart>;
  /** @returns null when it is not kept any more */
  open(target: PartTarget): Promise<OpenedFile | null>;
  /**
   * A file by its address, read where it lies.
   *
   * @returns null when the address is none of a file that was uploaded for a number of this account
   * @throws {GatewayError} FILE_UNREACHABLE: it is not kept any more
   */
  find(url: string, account: string): Promise<Download | null>;
}

/** What the row of a part holds beside what that of every file does. */
interface PartFacts extends FileFacts {
  after: string | null;
  /** Bytes and parts up to its end. */
  received: number;
  count: number;
  name: string;
}

interface UploadsDeps {
  store: Pick<Store, "readOne" | "box" | "now">;
  config: Pick<Config, "maxMediaBytes" | "publicUrl">;
  files: Pick<Files, "workspace" | "keep">;
  elsewhere: Pick<Elsewhere, "find" | "pathOf">;
  accountOf(deviceId: number): string | null;
}

/** Each is a row, a file, and a look-up when the file is sent. */
const MOST_PARTS = 8_192;
const MIMETYPE = "application/octet-stream";
const FIND = defineQuery("SELECT device_id, meta FROM media_files WHERE id = ?", {
  deviceId: mediaFiles.deviceId,
  meta: mediaFiles.meta,
});

/** Parts lie encrypted like every file to be sent, and can be had on every node. Nothing is remembered between them. */
export function createUploads({ store, config, files, elsewhere, accountOf }: UploadsDeps): Uploads {
  const links = createLinks(store.box, store.now);
  const addresses = `${config.publicUrl}/media/`;

  async function read(id: string, deviceId: number): Promise<PartFacts | null> {
    const row = await store.readOne(FIND, [id]);
    if (row === null || row.deviceId !== deviceId) return null;
    return store.box.openJson<PartFacts>(row.meta, `media:${id}:meta`);
  }

  async function seal(deviceId: number, bytes: Buffer, facts: (of: Sealed) => PartFacts): Promise<string> {
    const workspace = await files.workspace();
    try {
      const path = workspace.path("part");
      const sealed = await sealAll(path, "document", [bytes]);
      return await files.keep(deviceId, path, facts(sealed), "mu");
    } finally {
      await workspace.dispose();
    }
  }

  async function* body(parts: { id: string; facts: PartFacts }[]): AsyncGenerator<Buffer> {
    for (const { id, facts } of parts) {
      if (!(await elsewhere.find(id, () => hashedIntake(facts.encSha256)))) throw gone();
      const keys = mediaKeys(Buffer.from(facts.mediaKey, "base64"), facts.kind);
      yield* decrypted(elsewhere.pathOf(id), keys, Buffer.from(facts.sha256, "base64"));
    }
  }

  async function open(target: PartTarget): Promise<OpenedFile | null> {
    const parts = await partsOf(target, read);
    if (parts === null) return null;
    const { name, received } = parts.at(-1)!.facts;
    return { mimetype: MIMETYPE, fileName: name, kind: "document", size: received, body: body(parts) };
  }

  return {
    open,

    async add({ deviceId, bytes, after, size, name }) {
      const before = after === null ? null : await read(after, deviceId);
      if (after !== null && before === null)
        throw noSuchPart("Is not the id of a part of a file for this number.");
      const { received, count } = before ?? { received: 0, count: 0 };
      if (count >= MOST_PARTS) throw noSuchPart(`A file has at most ${MOST_PARTS} parts: send larger parts.`);
      const total = received + bytes.length;
      if (Math.max(total, size ?? 0) > config.maxMediaBytes) throw tooLarge(config.maxMediaBytes);
      const id = await seal(deviceId, bytes, (sealed) => ({
        kind: "document",
        mimetype: MIMETYPE,
        ...sealed,
        keyTimestamp: Math.floor(store.now() / 1000),
        after,
        received: total,
        count: count + 1,
        name,
      }));
      const url = addresses + links.make({ deviceId, part: id });
      return { id, received: total, url, expiresAt: store.now() + PART_LIFE_MS };
    },

    async find(url, account) {
      const target = url.startsWith(addresses) ? links.read(url.slice(addresses.length)) : null;
      if (target === null || !("part" in target) || accountOf(target.deviceId) !== account) return null;
      const file = await open(target);
      if (file === null) throw gone();
      return atHand(file.body, file.fileName, url);
    },
  };
}

/** First part first; null when one of them is not kept any more. */
async function partsOf(
  { deviceId, part }: PartTarget,
  read: (id: string, deviceId: number) => Promise<PartFacts | null>,
): Promise<{ id: string; facts: PartFacts }[] | null> {
  const parts: { id: string; facts: PartFacts }[] = [];
  for (let id: string | null = part; id !== null;) {
    const facts: PartFacts | null = await read(id, deviceId);
    if (facts === null) return null;
    parts.push({ id, facts });
    id = facts.after;
  }
  return parts.toReversed();
}

/** A file that is at hand, as if it had been downloaded. @param fileName "" when nobody says */
export function atHand(body: AsyncIterable<Buffer>, fileName = "", url = ""): Download {
  const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(fileName)}`;
  return {
    url,
    body,
    header: (name) => (name === "content-disposition" && fileName !== "" ? disposition : null),
  };
}

type Sealed = Pick<FileFacts, "mediaKey" | "sha256" | "encSha256" | "size">;

const noSuchPart = (text: string): GatewayError =>
  new GatewayError("INVALID_PARAMETERS", "Invalid parameters!", { fields: { after: [text] } });
const gone = (): GatewayError =>
  new GatewayError("FILE_UNREACHABLE", "The uploaded file is no longer stored: upload it again.");
