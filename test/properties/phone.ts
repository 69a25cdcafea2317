import type {
  LinkedIdentity,
  WhatsApp,
  WhatsAppConnection,
  ConnectionListener,
} from "../../src/whatsapp/port.ts";
import { scriptedLine } from "../unit/outbox/harness.ts";

/** One connection of the number, as WhatsApp sees it. */
interface Link {
  listener: ConnectionListener;
  connection: WhatsAppConnection;
  /** With credentials, or waiting for a QR to be used. */
  kind: "login" | "registration";
  live: boolean;
  qrShown: boolean;
  open: boolean;
}

/**
 * WhatsApp and the phone as the link state machine meets them. Credentials outlive connections and runs of the gateway. What
 * the state machine must never do is written down.
 */
export class Phone {
  readonly problems: string[] = [];
  readonly links: Link[] = [];
  /** Whose credentials the gateway has stored. */
  credentials: LinkedIdentity | null = null;
  /** Of the number's record. */
  deviceId = 1;
  /** The next connection cannot be made. */
  broken = false;
  /** How the last connection ended that nobody may make again without being asked to. */
  forbidden: number | null = null;
  /** What the gateway left open when it was killed is gone for WhatsApp too. */
  killed(): void {
    for (const link of this.links) link.live = false;
  }

  get live(): Link[] {
    return this.links.filter(({ live }) => live);
  }

  get current(): Link | undefined {
    return this.live.at(-1);
  }

  whatsapp(): WhatsApp {
    return {
      connect: async (_deviceId, events) => this.#connect(events),
      identity: async () => this.credentials,
      linkedDevices: async () => (this.credentials ? [this.deviceId] : []),
      erase: async () => {
        if (this.live.length > 0) this.problems.push("credentials erased under a live connection");
        this.credentials = null;
      },
      leave: () => undefined,
      readAgain: async (_deviceId, edit) => edit,
      mediaSource: () => null,
      downloadMedia: () => Promise.reject(new Error("There are no files here.")),
      clientVersion: () => ({ version: "2.3000.1", refused: false }),
      stop: () => undefined,
    };
  }

  async #connect(listener: ConnectionListener): Promise<WhatsAppConnection> {
    if (this.broken) {
      this.broken = false;
      throw new Error("The credentials could not be read.");
    }
    if (this.live.length > 0) this.problems.push("a second connection");
    if (this.forbidden !== null) this.problems.push(`connected again after ${this.forbidden}`);
    const link: Link = {
      listener,
      kind: this.credentials ? "login" : "registration",
      live: true,
      qrShown: false,
      open: false,
      connection: {
        ...scriptedLine().connection,
        requestPairingCode: async () => "ABCDEFGH",
        logout: async () => {
          if (!link.live) throw new Error("The connection is closed.");
          this.credentials = null;
          link.live = false;
        },
        close: async () => void (link.live = false),
      },
    };
    this.links.push(link);
    await new Promise((resolve) => setImmediate(resolve));
    return link.connection;
  }

  showQr(): void {
    const link = this.current;
    if (link?.kind !== "registration") return;
    link.qrShown = true;
    link.listener.tell({ type: "qr", text: `qr ${this.links.length}`, expiresInMs: 60_000 });
  }

  /** The QR is used by a phone; the restart that WhatsApp asks for follows. */
  scan(number: string): void {
    const link = this.current;
    if (!link?.qrShown) return;
    this.credentials = { number, lid: `${number}9@lid`, name: "Shop", platform: "android" };
    link.listener.tell({ type: "linked", identity: this.credentials });
    this.close(515);
  }

  logIn(): void {
    const link = this.current;
    if (link?.kind !== "login" || link.open || !this.credentials) return;
    link.open = true;
    link.listener.tell({ type: "open", identity: this.credentials });
  }

  close(code: number, reason = ""): void {
    const link = this.current;
    if (!link) return;
    link.live = false;
    link.listener.tell({ type: "closed", closed: { code, reason } });
  }

  /** Something that an earlier connection still had to say. */
  echo(what: "open" | "closed" | "qr"): void {
    const link = this.links.findLast(({ live }) => !live);
    const identity = { number: "31600000001", lid: null, name: null, platform: null };
    if (what === "open") link?.listener.tell({ type: "open", identity });
    if (what === "closed") link?.listener.tell({ type: "closed", closed: { code: 401, reason: "late" } });
    if (what === "qr") link?.listener.tell({ type: "qr", text: "late", expiresInMs: 60_000 });
  }
}
