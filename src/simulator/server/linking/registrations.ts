import type { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import type { Random } from "../../random.ts";
import type { Cancel, Time } from "../../time.ts";
import { typedPublicKey, verify } from "../../wire/keys.ts";
import type { Connection, SignedPreKey } from "../../world/accounts.ts";

/** A client that wants to become a companion. */
export interface Registration {
  connection: Connection;
  noiseKey: Buffer;
  identity: Buffer;
  registrationId: number;
  signedPreKey: SignedPreKey;
}

interface Reference {
  registration: Registration;
  expiresAt: number;
}

/** Reads the keys of a registering client (`ClientPayload.devicePairingData`); undefined when its signed pre-key is not its own. */
export function readRegistration(
  connection: Connection,
  data: proto.ClientPayload.IDevicePairingRegistrationData,
  noiseKey: Buffer,
): Registration | undefined {
  const identity = asBuffer(data.eIdent);
  const [keyId, registrationId] = [asBuffer(data.eSkeyId), asBuffer(data.eRegid)];
  const signedPreKey = {
    id: keyId.length === 3 ? keyId.readUIntBE(0, 3) : 0,
    publicKey: asBuffer(data.eSkeyVal),
    signature: asBuffer(data.eSkeySig),
  };
  if (!verify(identity, typedPublicKey(signedPreKey.publicKey), signedPreKey.signature)) return undefined;
  return {
    connection,
    noiseKey,
    identity,
    registrationId: registrationId.length === 4 ? registrationId.readUInt32BE() : 0,
    signedPreKey,
  };
}

const asBuffer = (field: Uint8Array | null | undefined): Buffer => Buffer.from(field ?? []);

/** Clients that are not linked yet, and the references (QR texts and codes) by which phones find them. */
export class Registrations {
  readonly #random: Random;
  readonly #time: Time;
  readonly #open = new Map<Connection, { registration: Registration; cancelEnd: Cancel }>();
  readonly #references = new Map<string, Reference>();
  #lastReference = 0;

  constructor(random: Random, time: Time) {
    this.#random = random;
    this.#time = time;
  }

  /** Adds a registering client, whose connection is closed after so many milliseconds. */
  add(registration: Registration, lifeMs: number): void {
    const { connection } = registration;
    const cancelEnd = this.#time.after(lifeMs, () => connection.close());
    this.#open.set(connection, { registration, cancelEnd });
  }

  /** The client's connection may stay for so many milliseconds from now. */
  extend(connection: Connection, lifeMs: number): void {
    const open = this.#open.get(connection);
    if (!open) return;
    open.cancelEnd();
    open.cancelEnd = this.#time.after(lifeMs, () => connection.close());
  }

  /** The client on a connection. */
  of(connection: Connection): Registration | undefined {
    return this.#open.get(connection)?.registration;
  }

  /** Makes a new reference to a client, valid for so many milliseconds. */
  refer(registration: Registration, lifeMs: number): string {
    const secret = this.#random.fork(`ref:${++this.#lastReference}`).bytes(48);
    const name = `2@${secret.toString("base64")}`;
    this.#references.set(name, { registration, expiresAt: this.#time.now() + lifeMs });
    return name;
  }

  /** The client behind a reference; undefined when it is unknown, used or expired. */
  find(name: string | undefined): Registration | undefined {
    const reference = this.#references.get(name ?? "");
    return reference && reference.expiresAt > this.#time.now() ? reference.registration : undefined;
  }

  /** Uses a reference up: it is good for one linking. */
  spend(name: string): void {
    this.#references.delete(name);
  }

  /** Drops a client whose connection has ended, along with its references. */
  forget(connection: Connection): void {
    const open = this.#open.get(connection);
    if (!open) return;
    open.cancelEnd();
    this.#open.delete(connection);
    for (const [name, { registration }] of this.#references) {
      if (registration === open.registration) this.#references.delete(name);
    }
  }

  close(): void {
    for (const { cancelEnd } of this.#open.values()) cancelEnd();
  }
}
