import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { AppStateEntry, AppStateWriting, CollectionName } from "../../surface/app-state.ts";
import { type BinaryNode, bytes, child, children, element } from "../../wire/nodes.ts";
import { iq } from "../directory.ts";
import { encryptFile, openFile } from "../messages/media-file.ts";
import { type PhoneState, reportViolation } from "../phone-state.ts";
import { type AddressedChange, entryOf } from "./changes.ts";
import { type AppStateKey, type Change, WrongPatch } from "./codec.ts";
import { Collection } from "./collection.ts";

/** How often a change is written again that another device was faster with. */
const TRIES = 5;

/** The keys of one account, the newest last. */
export interface AppStateKeys {
  all(): readonly AppStateKey[];
  /** Makes another. */
  add(): AppStateKey;
}

/** App state on an owner's phone: what it writes there, and what it reads of its companions. */
export class AppStateBook {
  readonly #state: PhoneState;
  readonly #keys: AppStateKeys;
  readonly #collections = new Map<string, Collection>();

  constructor(state: PhoneState, keys: AppStateKeys) {
    this.#state = state;
    this.#keys = keys;
  }

  /** Writes changes, those of one collection as one patch. Resolves with the versions that follow. */
  async write(
    changes: readonly AddressedChange[],
    { external = false }: AppStateWriting,
  ): Promise<Partial<Record<CollectionName, number>>> {
    const entries = changes.map(entryOf);
    const versions: Partial<Record<CollectionName, number>> = {};
    for (const name of new Set(entries.map(({ collection }) => collection))) {
      const own = entries.filter(({ collection }) => collection === name);
      versions[name] = await this.#writeTo(name, own, external);
    }
    return versions;
  }

  /** Reads what has been written since, by whomever. Names that no collection has are passed over. */
  async follow(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const collection = this.#of(name);
      const answer = await this.#ask(name, collection.version);
      this.#takeAll(name, collection, answer);
    }
  }

  /** Every entry of every collection. */
  entries(): AppStateEntry[] {
    return [...this.#collections].flatMap(([name, collection]) =>
      collection.entries().map(({ index, value }) => ({
        collection: name as CollectionName,
        index,
        value: proto.SyncActionValue.toObject(proto.SyncActionValue.fromObject(value ?? {}), {
          longs: Number,
        }),
      })),
    );
  }

  async #writeTo(name: CollectionName, entries: Change[], external: boolean): Promise<number> {
    const collection = this.#of(name);
    for (let tries = 0; tries < TRIES; tries += 1) {
      await this.follow([name]);
      const { random, world } = this.#state;
      const patch = collection.write(entries, {
        key: this.#keys.all().at(-1)!,
        random,
        at: world.time.now(),
        external: external ? (plain) => this.#store(plain) : undefined,
      });
      const answer = await this.#ask(name, collection.version, proto.SyncdPatch.encode(patch).finish());
      if (answer?.attrs.type === "error") continue;
      collection.take(patch, this.#mutationsOf(patch), collection.version + 1, (id) => this.#keyOf(id));
      return collection.version;
    }
    throw new Error(`app state ${name} of ${this.#state.address.user}: another device is always faster`);
  }

  async #ask(name: string, version: number, patch?: Uint8Array): Promise<BinaryNode | undefined> {
    const attrs = { name, version: String(version), return_snapshot: "false" };
    const content = patch ? [element("patch", {}, patch)] : undefined;
    const sync = element("sync", {}, [element("collection", attrs, content)]);
    const answer = await this.#state.query(iq("w:sync:app:state", [sync], "set"));
    return child(child(answer, "sync"), "collection");
  }

  #takeAll(name: string, collection: Collection, answer: BinaryNode | undefined): void {
    for (const node of children(child(answer, "patches"), "patch")) {
      const patch = proto.SyncdPatch.decode(bytes(node) ?? new Uint8Array());
      const version = Number(patch.version?.version ?? 0);
      try {
        collection.take(patch, this.#mutationsOf(patch), version, (id) => this.#keyOf(id));
      } catch (error) {
        if (!(error instanceof WrongPatch)) throw error;
        const detail = `patch ${version} of ${name}: ${error.message} does not fit`;
        return reportViolation(this.#state, "app_state_unreadable", detail);
      }
    }
  }

  #of(name: string): Collection {
    const known = this.#collections.get(name);
    if (known) return known;
    const collection = new Collection(name);
    this.#collections.set(name, collection);
    return collection;
  }

  #keyOf(id: Uint8Array): AppStateKey {
    const key = this.#keys.all().find((known) => Buffer.from(known.id).equals(id));
    if (!key)
      throw new WrongPatch(`a key that the phone does not have: ${Buffer.from(id).toString("hex")}; it`);
    return key;
  }

  #store(plain: Uint8Array): proto.IExternalBlobReference {
    const { random, world } = this.#state;
    const mediaKey = random.bytes(32);
    const {
      bytes: sealed,
      fileSha256,
      fileEncSha256,
      fileLength,
    } = encryptFile(plain, mediaKey, "app-state");
    const { directPath } = world.files.store("md-app-state", sealed);
    return { mediaKey, directPath, fileSha256, fileEncSha256, fileSizeBytes: fileLength };
  }

  #mutationsOf({ mutations, externalMutations: file }: proto.ISyncdPatch): proto.ISyncdMutation[] {
    if (!file?.directPath) return mutations ?? [];
    const claims = { ...file, fileLength: file.fileSizeBytes as number };
    const plain = openFile(this.#state.world.files.load(file.directPath), claims, "app-state");
    return proto.SyncdMutations.decode(plain).mutations;
  }
}
