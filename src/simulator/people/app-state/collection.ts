import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../../random.ts";
import { equal } from "../../signal/kdf.ts";
import {
  type AppStateKey,
  type Change,
  WrongPatch,
  open,
  patchMac,
  seal,
  snapshotMac,
  valueMacOf,
} from "./codec.ts";
import { EMPTY_HASH, ltHash } from "./lt-hash.ts";

const { SET } = proto.SyncdMutation.SyncdOperation;

/** What sealing a patch takes besides the changes. */
interface Sealing {
  key: AppStateKey;
  random: Random;
  /** Unix milliseconds. */
  at: number;
  /** Puts the changes into a file of their own, as clients do with many. */
  external?: (plain: Uint8Array) => proto.IExternalBlobReference;
}

/** One collection of app state as a phone has it: every patch that it reads or writes must lead from here on. */
export class Collection {
  readonly #name: string;
  /** MACs of the values, by the MACs of their indexes. */
  #macs = new Map<string, Uint8Array>();
  #hash: Uint8Array = EMPTY_HASH;
  #version = 0;
  readonly #entries = new Map<string, Change>();

  constructor(name: string) {
    this.#name = name;
  }

  get version(): number {
    return this.#version;
  }

  /** Every entry that is there, in the order of writing. */
  entries(): Change[] {
    return [...this.#entries.values()];
  }

  /** The patch that makes some changes; the collection is as before until it is taken. */
  write(changes: readonly Change[], { key, random, at, external }: Sealing): proto.ISyncdPatch {
    const mutations = changes.map((change) => seal(change, key, random, at));
    const version = this.#version + 1;
    const mac = snapshotMac(this.#after(mutations).hash, version, this.#name, key);
    const proof = patchMac(mac, mutations.map(valueMacOf), version, this.#name, key);
    const patch = { snapshotMac: mac, patchMac: proof, keyId: { id: key.id } };
    if (!external) return { ...patch, mutations };
    return { ...patch, externalMutations: external(proto.SyncdMutations.encode({ mutations }).finish()) };
  }

  /**
   * Takes the next patch, whoever wrote it.
   *
   * @param version   the one that it leads to
   * @param mutations of the patch, from wherever it keeps them
   * @throws {WrongPatch} when it is not what its writer would have made of this collection
   */
  take(
    patch: proto.ISyncdPatch,
    mutations: proto.ISyncdMutation[],
    version: number,
    keyOf: (id: Uint8Array) => AppStateKey,
  ): void {
    if (version !== this.#version + 1) throw new WrongPatch(`version ${version} after ${this.#version}`);
    const key = keyOf(patch.keyId?.id ?? new Uint8Array());
    const { hash, macs } = this.#after(mutations);
    const mac = snapshotMac(hash, version, this.#name, key);
    if (!equal(mac, patch.snapshotMac ?? new Uint8Array())) throw new WrongPatch("the MAC of the state");
    const proof = patchMac(mac, mutations.map(valueMacOf), version, this.#name, key);
    if (!equal(proof, patch.patchMac ?? new Uint8Array())) throw new WrongPatch("the MAC of the patch");
    const changes = mutations.map((mutation) =>
      open(mutation, keyOf(mutation.record?.keyId?.id ?? new Uint8Array())),
    );
    for (const change of changes) {
      const name = JSON.stringify(change.index);
      this.#entries.delete(name);
      if (change.value !== null) this.#entries.set(name, change);
    }
    this.#hash = hash;
    this.#macs = macs;
    this.#version = version;
  }

  /** Hash and MACs once some mutations are taken. */
  #after(mutations: readonly proto.ISyncdMutation[]): { hash: Uint8Array; macs: Map<string, Uint8Array> } {
    const macs = new Map(this.#macs);
    const [added, removed]: Uint8Array[][] = [[], []];
    for (const mutation of mutations) {
      const index = Buffer.from(mutation.record?.index?.blob ?? []).toString("base64");
      const before = macs.get(index);
      if (before) removed!.push(before);
      macs.delete(index);
      if ((mutation.operation ?? SET) !== SET) continue;
      added!.push(valueMacOf(mutation));
      macs.set(index, valueMacOf(mutation));
    }
    return { hash: ltHash(this.#hash, { added: added!, removed: removed! }), macs };
  }
}
