/**
 * The seam between the simulated people and the simulated server.
 *
 * A simulated phone is a client at node level: it speaks the same stanzas as a companion device, only without
 * Noise and the binary codec. The server gives it a {@link Link}; everything else that a person needs (time, random
 * bytes, a recorder) is passed in through {@link PhoneWorld}. People import nothing from the server.
 *
 * What the people side sends, beyond what companions send (`<message>`, `<receipt>`, `<ack>`, `usync`, `encrypt`, `w:g2`):
 * - Linking by QR text: `iq set md > pair-device {ref, pub-key (noise public key from the QR), device-identity
 *   (ADVSignedDeviceIdentityHMAC)}`. The server turns it into `pair-success` for the companion that was shown that ref
 *   and answers `iq result > device@jid,lid`, or `iq error 404` for an unknown or used-up ref.
 * - Linking by code: the server passes the companion's `companion_hello` and `companion_finish` on as
 *   `notification type=link_code_companion_reg > link_code_companion_reg@stage{…, link_code_pairing_ref}`; the phone
 *   answers the first with `iq set md > link_code_companion_reg@stage=primary_hello
 *   {link_code_pairing_wrapped_primary_ephemeral_pub, primary_identity_pub, link_code_pairing_ref}` (the server
 *   forwards those three as a notification to the companion), and the second with the same `pair-device` as above,
 *   its `ref` being the `link_code_pairing_ref` and its `pub-key` the `companion_server_auth_key_pub`.
 * - Linking with a passkey: the server answers `pair-device` with `<passkey/>`, asks the companion, and passes each of its steps
 *   (`passkey_prologue`, `companion_nonce`, `encrypted_pairing_request`) on as `notification type=companion_linking`; the phone answers
 *   the first with `iq set md > primary_ephemeral_identity` and ends with `pair-device@passkey=1`. The real phone's side of it is not
 *   known: these names are the simulator's own.
 * - Removing a companion: `iq set md > remove-companion-device@jid,reason=user_initiated`.
 * - Peer messages to one own companion: `<message to=user:device@s.whatsapp.net category=peer type=text
 *   push_priority=high><enc/></message>`, without `participants`.
 * - The answer to a companion that asks for a file once more (`receipt type=server-error` of the companion, passed on to
 *   the phone): `iq set w:m > mediaretry@to,id{rmr, encrypt{enc_p, enc_iv} | error@code}`, which the server turns into
 *   `notification type=mediaretry` for that companion.
 * - Typing: `<chatstate to><composing|paused media?/></chatstate>`.
 * - A resend after a retry receipt: `<message id to=<device jid> device_fanout=false [recipient]><enc count/></message>`,
 *   in a group `<message id to=<group> participant=<device jid>><enc count/></message>`.
 *
 * What it expects to be pushed: `message`, `receipt`, `ack class=message`, `notification` of type `encrypt` (count),
 * `devices` (`add|remove > device@jid`, to the own phone once a new companion has logged in and uploaded its keys),
 * `w:gp2`, `link_code_companion_reg`. Each is acknowledged as a phone does.
 */
import type { BinaryNode } from "@whiskeysockets/baileys";
import type { Random } from "../random.ts";
import type { ServiceBehaviour } from "../surface/behaviour.ts";
import type { Time } from "../time.ts";
import type { DeviceAddress } from "./address.ts";
import type { PhoneRecorder } from "./events.ts";

/** One device's connection to the server, at node level. */
export interface Link {
  /** Sends a stanza that needs no answer, or whose answer arrives through `onNode` (an `ack`). */
  send(node: BinaryNode): void;
  /**
   * Sends an IQ and gives its answer. The link fills in a missing `id`. An answer of `type=error` is returned, not
   * thrown; the promise rejects only when the link is closed.
   */
  query(iq: BinaryNode): Promise<BinaryNode>;
  /** Registers the one receiver of pushed stanzas; what is queued for the device is delivered after this call. */
  onNode(receive: (node: BinaryNode) => void): void;
  /** Disconnects; stanzas for the device wait at the server until it attaches again. */
  close(): void;
}

/** The media host as phones use it. */
export interface FileHost {
  store(type: string, bytes: Uint8Array): { url: string; directPath: string };
  /** @throws when there is no such file (any more) */
  load(directPath: string): Uint8Array;
  /**
   * The file as the phone kept it when the message arrived, to be uploaded again. `not_found`: it was deleted
   * on the phone. `silent`: the phone does not answer.
   */
  recall(directPath: string): Uint8Array | "not_found" | "silent";
}

/** What all simulated people of one simulator share. */
export interface PhoneWorld {
  /** The service's clock and timers. */
  time: Time;
  /** The simulator's root stream; a person forks it by number, a device by its index. */
  random: Random;
  recorder: PhoneRecorder;
  /** What phones do as of today rather than as of last year. */
  behaviour: ServiceBehaviour;
  files: FileHost;
  /** Connects one device; called when the device wakes, not when the person is made. */
  attach(address: DeviceAddress): Link;
}
