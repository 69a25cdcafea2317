import { randomBytes } from "node:crypto";
import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import type { Logger } from "../../log.ts";
import { PASSKEY_WANTED, type PasskeyAssertion, type PasskeyStep } from "../../model/passkey.ts";
import { MINUTE_MS, SECOND_MS, type Cancel, type Time } from "../../model/time.ts";
import { baileys } from "../baileys.ts";
import { childOf } from "../nodes.ts";
import { NoPasskeyRequest, PasskeyRefused, type Closed, type ConnectionListener } from "../port.ts";
import type { AuthState } from "../signal/auth-state.ts";
import {
  agree,
  handoffKey,
  handoffProof,
  makePrologue,
  sealPairingRequest,
  type Agreement,
  type Prologue,
} from "./handshake.ts";
import { readPasskeyRequest } from "./options.ts";

/** How long the QR's own secret vouches for the companion. */
const HANDOFF_MS = 5 * MINUTE_MS;
/** A caller waits so long for the phone's answer, and the linking so long for each later step. */
const PHONE_MS = 25 * SECOND_MS;
const SERVER = "@s.whatsapp.net";
const REFS_USED_UP: Closed = {
  code: 408,
  reason: "QR refs attempts ended: nobody answered the passkey request",
};

/** The passkey step of one connection. */
export interface PasskeyLinking {
  /** A QR is not to be shown: the passkey is what is waited for. */
  isUnderWay(): boolean;
  /** @throws NoPasskeyRequest when none is asked for; PasskeyRefused when WhatsApp refuses, or does not go on */
  answer(assertion: PasskeyAssertion): Promise<PasskeyStep>;
  /** The code was compared. @throws NoPasskeyRequest when there is none; PasskeyRefused */
  confirm(): Promise<void>;
  /** The connection has ended. */
  end(): void;
}

/** What the passkey step needs of its connection. */
interface PasskeyDeps {
  socket: WASocket;
  auth: Pick<AuthState, "creds">;
  time: Time;
  log: Logger;
  /** Whether a person may answer it (setting PASSKEY_LINKING). */
  enabled: boolean;
  listener: Pick<ConnectionListener, "tell">;
  end(closed: Closed): void;
}

type Stage =
  | { at: "idle" }
  /** An assertion is awaited. */
  | { at: "asked"; handoff: { key: Uint8Array; until: number } }
  /** WhatsApp has, or is about to have, an assertion; the phone's answer is awaited. */
  | {
      at: "proving";
      prologue: Prologue | null;
      needsCode: boolean;
      told: (result: Agreement | Error) => void;
    }
  /** The code is to be compared. */
  | { at: "comparing"; agreement: Agreement }
  /** The request for linking is on its way; `pair-success` follows. */
  | { at: "requested" };

interface PasskeyParts extends PasskeyDeps {
  stage: Stage;
  /** Ends the linking when nobody answers in time. */
  limit: Cancel | null;
}

/**
 * Links with a passkey ("Shortcake", since 2026-06-30): after the scan WhatsApp asks for an assertion that only the owner's
 * browser can make. Listens from the connection's first byte on; see `docs/passkey/README.md` for the steps.
 */
export function createPasskeyLinking(deps: PasskeyDeps): PasskeyLinking {
  const parts: PasskeyParts = { ...deps, stage: { at: "idle" }, limit: null };
  const on = (type: string, listener: (node: BinaryNode) => Promise<void>): void =>
    void deps.socket.ws.on(`CB:notification,type:${type}`, (node: BinaryNode) => {
      // Both spellings of the address come.
      if (node.attrs.from?.replace(/^@/, "") !== SERVER.slice(1)) return;
      listener(node).catch((error: unknown) => fail(parts, error));
    });
  on("passkey_prologue_request", (node) => asked(parts, node));
  on("crsc_continuation", (node) => continued(parts, node));
  return {
    isUnderWay: () => parts.stage.at !== "idle",
    answer: (assertion) => answer(parts, assertion),
    confirm: () => confirm(parts),
    end() {
      parts.limit?.();
      if (parts.stage.at === "proving") parts.stage.told(new PasskeyRefused(0, "the connection was lost"));
      parts.stage = { at: "idle" };
    },
  };
}

/** Baileys acknowledges nothing before the login: it would need the own number for it. */
async function acknowledge({ socket }: PasskeyParts, { attrs }: BinaryNode): Promise<void> {
  const { id = "", from = SERVER, type = "" } = attrs;
  await socket.sendNode({ tag: "ack", attrs: { id, to: from, class: "notification", type } });
}

async function asked(parts: PasskeyParts, node: BinaryNode): Promise<void> {
  const { auth, time, enabled, listener, end } = parts;
  await acknowledge(parts, node);
  if (parts.stage.at !== "idle") return;
  if (!enabled) return end({ code: 0, reason: PASSKEY_WANTED });
  const key = handoffKey(auth.creds.advSecretKey);
  parts.stage = { at: "asked", handoff: { key, until: time.monotonic() + HANDOFF_MS } };
  auth.creds.advSecretKey = randomBytes(32).toString("base64");
  const request = readPasskeyRequest(node) ?? (await askForOptions(parts));
  if (request === null) throw new Error("cannot read WhatsApp's passkey request");
  parts.limit = time.after(request.timeout, () => end(REFS_USED_UP));
  listener.tell({ type: "passkey", request, withinMs: request.timeout });
}

async function askForOptions(parts: PasskeyParts) {
  return readPasskeyRequest(await ask(parts, "get", { tag: "passkey_request_options", attrs: {} }));
}

async function answer(parts: PasskeyParts, assertion: PasskeyAssertion): Promise<PasskeyStep> {
  const before = parts.stage;
  if (before.at !== "asked") throw new NoPasskeyRequest();
  const { handoff } = before;
  const heard = new Promise<Agreement | Error>((told) => {
    parts.stage = { at: "proving", prologue: null, needsCode: true, told };
  });
  const stage = parts.stage as Stage & { at: "proving" };
  try {
    const ref = refIn(await ask(parts, "get", { tag: "ref", attrs: {} }));
    const prologue = makePrologue(ref, deviceType());
    stage.prologue = prologue;
    const vouches = parts.time.monotonic() < handoff.until;
    stage.needsCode = !vouches;
    await ask(parts, "set", prologueNode(assertion, prologue, vouches ? handoff.key : null));
  } catch (error) {
    // Whoever made a mistake may try again: the question still stands.
    if (parts.stage === stage) parts.stage = before;
    throw refusedBy(error);
  }
  parts.listener.tell({ type: "passkey", request: null, withinMs: 0 });
  if (!stage.needsCode) return { state: "linking" };
  const result = await parts.time.deadline(PHONE_MS, heard, phoneIsLate).catch((error: Error) => error);
  if (result instanceof Error) {
    parts.end(REFS_USED_UP);
    throw result;
  }
  return { state: "confirm", code: result.code };
}

const phoneIsLate = (): Error =>
  new PasskeyRefused(0, "the phone did not answer in time; start linking again");

const part = (tag: string, content: Uint8Array): BinaryNode => ({ tag, attrs: {}, content });

function prologueNode(
  assertion: PasskeyAssertion,
  { payload }: Prologue,
  key: Uint8Array | null,
): BinaryNode {
  const content = [
    part("credential_id", Buffer.from(assertion.rawId, "base64url")),
    part("webauthn_assertion", Buffer.from(JSON.stringify(assertion))),
    part("prologue_payload", payload),
  ];
  if (key !== null) content.push(part("pairing_handoff_proof", handoffProof(key, payload)));
  return { tag: "passkey_prologue", attrs: {}, content };
}

/** The phone has answered: it may have done so before WhatsApp's own answer arrived. */
async function continued(parts: PasskeyParts, node: BinaryNode): Promise<void> {
  await acknowledge(parts, node);
  const { stage } = parts;
  if (stage.at !== "proving" || stage.prologue === null) return;
  const content = childOf(node, "primary_ephemeral_identity")?.content;
  if (!(content instanceof Uint8Array)) throw new Error("the phone's answer is empty");
  const agreement = agree(stage.prologue, content);
  await ask(parts, "set", { tag: "companion_nonce", attrs: {}, content: stage.prologue.nonce });
  parts.stage = { at: "comparing", agreement };
  stage.told(agreement);
  if (!stage.needsCode) await confirm(parts);
}

async function confirm(parts: PasskeyParts): Promise<void> {
  const before = parts.stage;
  if (before.at !== "comparing") throw new NoPasskeyRequest();
  parts.stage = { at: "requested" };
  const { noiseKey, signedIdentityKey, advSecretKey } = parts.auth.creds;
  const content = sealPairingRequest(before.agreement, {
    noise: noiseKey.public,
    identity: signedIdentityKey.public,
    advSecret: Buffer.from(advSecretKey, "base64"),
  });
  try {
    await ask(parts, "set", { tag: "encrypted_pairing_request", attrs: {}, content });
  } catch (error) {
    parts.stage = before;
    throw refusedBy(error);
  }
  parts.limit?.();
  parts.limit = parts.time.after(PHONE_MS, () => parts.end(REFS_USED_UP));
}

/** What fails without anybody asking ends the connection; the number is linked anew. */
function fail({ stage, log, end }: PasskeyParts, error: unknown): void {
  log.warn({ err: error }, "linking with a passkey failed");
  if (stage.at === "proving") stage.told(refusedBy(error));
  end(REFS_USED_UP);
}

function ask({ socket }: PasskeyParts, type: "get" | "set", content: BinaryNode): Promise<BinaryNode> {
  const attrs = { to: SERVER, type, xmlns: "md", id: socket.generateMessageTag() };
  return socket.query({ tag: "iq", attrs, content: [content] });
}

/** @throws when WhatsApp sent no reference */
function refIn(answer: BinaryNode): string {
  const content = childOf(answer, "ref")?.content;
  if (content instanceof Uint8Array && content.length > 0) return Buffer.from(content).toString("utf8");
  if (typeof content === "string" && content !== "") return content;
  throw new PasskeyRefused(0, "WhatsApp sent no reference");
}

function refusedBy(error: unknown): PasskeyRefused {
  if (error instanceof PasskeyRefused) return error;
  const { message = "", data } = error as { message?: string; data?: unknown };
  return new PasskeyRefused(typeof data === "number" ? data : 0, message);
}

/** As the registration names it: the browser that Parley shows itself as is a Chrome. */
const deviceType = (): number => baileys.proto.DeviceProps.PlatformType.CHROME;
