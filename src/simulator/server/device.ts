import type { Account } from "../world.ts";
import type { Connection } from "./connection.ts";
import { LID_SERVER, PN_SERVER, jidOf } from "./jid.ts";
import { StanzaQueue } from "./queue.ts";

export interface SignedPreKey {
  id: number;
  publicKey: Buffer;
  signature: Buffer;
}

/** A one-time pre-key that the server has handed out, or that its owner gave away in a retry receipt. */
export interface SpentPreKey {
  /** Device jid of the one who got it. */
  to: string;
  /** The base key it was first used with, as hexadecimal. */
  baseKey?: string;
}

/** What the server knows of the holders of one device's sender key in one group. */
export interface SenderKeyState {
  keyId: number;
  holders: Set<string>;
}

/** A phone or a companion, as the server sees it. */
export class Device {
  readonly account: Account;
  /** 0 is the phone. */
  readonly id: number;
  readonly queue = new StanzaQueue();
  /** Noise key that a companion must log in with. */
  noiseKey: Buffer | undefined;
  keyIndex = 0;
  registrationId = 0;
  identity: Buffer | undefined;
  signedPreKey: SignedPreKey | undefined;
  readonly preKeys = new Map<number, Buffer>();
  readonly spentPreKeys = new Map<number, SpentPreKey>();
  /** `ADVSignedDeviceIdentity` with all signatures, of a companion. */
  signedIdentity: Buffer | undefined;
  readonly senderKeys = new Map<string, SenderKeyState>();
  connection: Connection | undefined;
  /** Stanzas may be pushed: the connection is active. */
  active = false;
  /** Others are told of this device. A companion is listed once it has uploaded its keys. */
  listed = false;
  /** It has been connected before. */
  seen = false;
  lowKeysTold = false;

  constructor(account: Account, id: number) {
    this.account = account;
    this.id = id;
  }

  get pn(): string {
    return jidOf(this.account.number, PN_SERVER, this.id);
  }

  get lid(): string {
    return jidOf(this.account.lid, LID_SERVER, this.id);
  }

  /** The device's jid on one of the two user servers. */
  jid(addressing: "pn" | "lid"): string {
    return addressing === "lid" ? this.lid : this.pn;
  }

  /** `number:device`, the name used in violations. */
  get label(): string {
    return `${this.account.number}:${this.id}`;
  }
}
