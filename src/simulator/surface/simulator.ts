/**
 * The simulator as its users see it. `startSimulator` (library) and `connectSimulator` (HTTP client) both return a
 * {@link Simulator}, so a test or a demo can use either. Every method is asynchronous in both.
 */
import type { AccountMethods } from "./accounts.ts";
import type { AppStateMethods } from "./app-state.ts";
import type { ServiceBehaviour } from "./behaviour.ts";
import type { ChannelMethods } from "./channels.ts";
import type { ConversationMethods } from "./conversations.ts";
import type { EvidenceMethods } from "./evidence.ts";
import type { SimulatorFaults } from "./faults.ts";
import type { GroupMethods } from "./groups.ts";
import type { HistoryMethods } from "./history.ts";
import type { ProfileMethods } from "./profiles.ts";
import type { WireMethods } from "./stanzas.ts";
import type { Certificates } from "../media/certificates.ts";
import type { Time } from "../time.ts";

/** Options of `startSimulator`. */
export interface SimulatorOptions {
  /** Makes keys, ids and codes repeatable. Default `"parley"`. */
  seed?: string;
  /** Port of the WhatsApp WebSocket; 0 (default) takes a free one. */
  port?: number;
  /** Address that the WebSocket listens on. Default `127.0.0.1`; `0.0.0.0` for clients in networks of their own. */
  host?: string;
  /** Port of the HTTP control API on loopback; 0 (default) takes a free one. `false`: no control API. */
  controlPort?: number | false;
  /** How many QR references one registering connection gets. Default 6. */
  qrRefs?: number;
  /** Life of the first QR reference, in milliseconds. Default 60,000, as the real service. */
  qrFirstMs?: number;
  /** Life of each later reference, in milliseconds. Default 20,000. */
  qrNextMs?: number;
  /** Milliseconds since 1970. Default `Date.now`. */
  clock?: () => number;
  /** The service's clock and timers, for tests that move them; `clock` is then not looked at. Library only. */
  time?: Time;
  /** Authority and certificate of the media host, for whoever trusts an earlier simulator's. Default: new ones. Library only. */
  certificates?: Certificates;
  /** What the service does as of today rather than as of last year. Default: nothing. */
  behaviour?: Partial<ServiceBehaviour>;
}

/** Where a simulator listens, and what its clients must trust. */
export interface SimulatorAddresses {
  readonly wsUrl: string;
  /** Public key of the root that signs the Noise certificates: 64 hexadecimal characters. */
  readonly noiseRoot: string;
  readonly controlUrl: string;
  /** `https://127.0.0.1:<port>` of the media host. */
  readonly mediaUrl: string;
  /** PEM certificate of the authority that signed the media host's certificate. */
  readonly ca: string;
  /** The same in a file, for `NODE_EXTRA_CA_CERTS` and the like; removed by `stop`. */
  readonly caFile: string;
}

/** What the program prints as one line of JSON when it is ready. */
export type ReadyLine = SimulatorAddresses;

/** A running simulator. */
export interface Simulator
  extends
    SimulatorAddresses,
    AccountMethods,
    GroupMethods,
    ChannelMethods,
    ConversationMethods,
    AppStateMethods,
    ProfileMethods,
    HistoryMethods,
    EvidenceMethods,
    WireMethods {
  readonly faults: SimulatorFaults;
  stop(): Promise<void>;
}
