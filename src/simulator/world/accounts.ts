/** Accounts, their devices, and the devices' connections: three shapes that point at one another. */
import type { Reachable } from "../surface/accounts.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { LID_SERVER, PN_SERVER, jidOf } from "./jid.ts";
import { StanzaQueue } from "./queue.ts";

/** A user of the service: the owner of a number that can be linked, or a contact. */
export interface Account {
  readonly number: string;
  /** Digits of the LID. It can change. */
  lid: string;
  readonly kind: "owner" | "contact";
  readonly edition: "standard" | "business";
  readonly addressing: "pn" | "lid";
  readonly hidesNumber: boolean;
  /** Nobody may add it to groups. */
  readonly refusesGroups: boolean;
  /** By which others know somebody whose number they do not. */
  readonly username: string | undefined;
  /** Nobody may write to it without the privacy token that it has given. */
  readonly demandsToken: boolean;
  /** By which of its addresses others may write to it. It can change: people move to LIDs. */
  reachableBy: Reachable;
  /** Numbers by which it is found when somebody asks who has WhatsApp, besides its own. */
  readonly otherForms: readonly string[];
  name: string;
  readonly devices: Map<number, Device>;
  /** `ADVSignedKeyIndexList` of its companions, from its phone. */
  keyIndexes?: Buffer;
  /** Device numbers are never given twice. */
  nextDevice: number;
  /** Numbers of the accounts that were told this account's devices; they hear of changes. */
  readonly watchers: Set<string>;
}

/** One client's connection, by WebSocket or in memory. */
export interface Connection {
  /** Set after login. */
  device: Device | undefined;
  readonly closed: boolean;
  send(node: BinaryNode): void;
  /** Sends an IQ of the server and resolves with the client's answer; rejects when the connection ends first. */
  query(iq: BinaryNode): Promise<BinaryNode>;
  /** Ends the connection in an orderly way after what was sent. */
  close(): void;
  /** Breaks the connection off as a lost network does. */
  cut(): void;
  /** Neither reads nor writes any more and leaves the TCP connection as it is. Links in memory cannot. */
  freeze?(): void;
  /** Ends `freeze`: what was written on both sides arrives, unless the connection was ended meanwhile. */
  thaw?(): void;
}

/** A signed pre-key as its owner has uploaded it. */
export interface SignedPreKey {
  id: number;
  publicKey: Buffer;
  signature: Buffer;
}

/** A one-time pre-key that the server has handed out, or that its owner gave away in a retry receipt. */
interface SpentPreKey {
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
  /** Its backlog is being fetched in windows: nothing live is sent until that has ended. */
  isDraining = false;
  /** Others are told of this device. A companion is listed once it has uploaded its keys. */
  listed = false;
  /** It has been connected before. */
  seen = false;
  lowKeysTold = false;

  constructor(account: Account, id: number) {
    this.account = account;
    this.id = id;
  }

  /** Its owner has set it up anew: nothing is known of its keys. */
  forgetKeys(): void {
    this.identity = this.signedPreKey = this.signedIdentity = undefined;
    this.preKeys.clear();
    this.spentPreKeys.clear();
    this.senderKeys.clear();
    this.lowKeysTold = false;
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

/** The devices of an account that others may encrypt for, the phone first. */
export function listedDevices(account: Account): Device[] {
  return [...account.devices.values()].filter((device) => device.listed).sort((a, b) => a.id - b.id);
}

/** An account's address on one of the two user servers. */
export function userJid({ number, lid }: Account, addressing: "pn" | "lid"): string {
  return addressing === "lid" ? jidOf(lid, LID_SERVER) : jidOf(number, PN_SERVER);
}
