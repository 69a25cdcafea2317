/** The step between scan and linking for accounts with a passkey: the service's side. */
import type { Random } from "../../random.ts";
import type { OwnerPasskey, PasskeyRule } from "../../surface/passkey.ts";
import type { Time } from "../../time.ts";
import { type BinaryNode, bytes, child, element } from "../../wire/nodes.ts";
import type { Account, Connection, Device } from "../../world/accounts.ts";
import { SERVER_JID } from "../../world/jid.ts";
import { RELYING_PARTY, faultOfAssertion } from "./assertion.ts";
import { IqError } from "../iq-error.ts";
import type { Deliveries, Reports, Stamps } from "../ports.ts";

const TIMEOUT_MS = 600_000;
const CHALLENGE_BYTES = 32;

interface Needs extends Stamps, Deliveries, Reports {
  random: Random;
  time: Time;
}

/** One companion on its way, from the scan to the sealed request. */
interface Ceremony {
  connection: Connection;
  phone: Device;
  passkey: OwnerPasskey;
  options: Buffer;
  challenge: string;
  endsAt: number;
  /** The companion's assertion was accepted. */
  proven: boolean;
}

/** Who has to prove with a passkey that they are the owner, and who is about to. */
export interface Passkeys {
  require(account: Account, passkey: OwnerPasskey | null, rule?: PasskeyRule): void;
  /** Whether linking a companion of this account asks for the passkey. */
  isRequired(account: Account): boolean;
  /** A phone has scanned: its companion is asked. @returns how long that may take, in milliseconds */
  ask(connection: Connection, phone: Device): number;
  /** The companion asks once more what it is asked for. @throws IqError when it is asked for nothing */
  options(connection: Connection): BinaryNode[];
  /** The companion's assertion and commitment. @throws IqError when the assertion is none for this question */
  prologue(connection: Connection, body: BinaryNode): BinaryNode[];
  /** What the phone answers to the commitment. */
  primaryIdentity(phone: Device, body: BinaryNode): BinaryNode[];
  /** What the companion tells its phone after that: its nonce, then the sealed request. */
  forward(connection: Connection, body: BinaryNode): BinaryNode[];
}

/** Nobody has a passkey. */
export function createPasskeys(needs: Needs): Passkeys {
  const rules = new Map<string, { passkey: OwnerPasskey; rule: PasskeyRule }>();
  const ceremonies = new Map<Connection, Ceremony>();

  function ceremonyOf(connection: Connection): Ceremony {
    const found = ceremonies.get(connection);
    if (!found || found.endsAt <= needs.time.now()) throw new IqError(404, "item-not-found");
    return found;
  }

  return {
    require(account, passkey, rule = {}) {
      // Over HTTP null arrives as an argument that was left out.
      if (!passkey) rules.delete(account.number);
      else rules.set(account.number, { passkey, rule });
    },
    isRequired: (account) => rules.has(account.number),
    ask(connection, phone) {
      const { passkey, rule } = rules.get(phone.account.number)!;
      const { timeoutMs = TIMEOUT_MS, withoutOptions = false, afterMs = 0 } = rule;
      const challenge = needs.random.fork(`challenge ${needs.nextId()}`).bytes(CHALLENGE_BYTES);
      const asked = optionsFor(passkey, challenge.toString("base64url"), timeoutMs);
      const options = Buffer.from(JSON.stringify(asked));
      const endsAt = needs.time.now() + afterMs + timeoutMs;
      const ceremony = {
        connection,
        phone,
        passkey,
        options,
        challenge: asked.challenge,
        endsAt,
        proven: false,
      };
      ceremonies.set(connection, ceremony);
      const content = withoutOptions ? [] : [element("passkey_request_options", {}, options)];
      const tell = (): void => connection.send(notification(needs, "passkey_prologue_request", content));
      if (afterMs === 0) tell();
      else needs.time.after(afterMs, tell);
      return afterMs + timeoutMs;
    },
    options: (connection) => [element("passkey_request_options", {}, ceremonyOf(connection).options)],
    prologue(connection, body) {
      const ceremony = ceremonyOf(connection);
      if (ceremony.proven) throw new IqError(409, "conflict");
      const fault = faultOfPrologue(ceremony, body);
      if (fault !== null) {
        needs.violations.report("passkey_assertion", ceremony.phone.account.number, fault);
        throw new IqError(401, "not-authorized");
      }
      ceremony.proven = true;
      tellPhone(needs, ceremony, body);
      return [];
    },
    primaryIdentity(phone, body) {
      const ceremony = [...ceremonies.values()].findLast((one) => one.phone === phone && one.proven);
      if (!ceremony) throw new IqError(404, "item-not-found");
      ceremony.connection.send(notification(needs, "crsc_continuation", [body]));
      return [];
    },
    forward(connection, body) {
      const ceremony = ceremonyOf(connection);
      if (!ceremony.proven) throw new IqError(401, "not-authorized");
      tellPhone(needs, ceremony, body);
      return [];
    },
  };
}

function optionsFor(passkey: OwnerPasskey, challenge: string, timeout: number) {
  return {
    challenge,
    timeout,
    rpId: RELYING_PARTY,
    allowCredentials: [{ id: passkey.credentialId, type: "public-key", transports: ["internal", "hybrid"] }],
    userVerification: "required",
    extensions: { uvm: true },
  };
}

function faultOfPrologue({ passkey, challenge }: Ceremony, body: BinaryNode): string | null {
  const assertion = bytes(child(body, "webauthn_assertion"));
  if (!assertion || !bytes(child(body, "prologue_payload"))) return "a part is missing";
  if (bytes(child(body, "credential_id"))?.toString("base64url") !== passkey.credentialId)
    return "another credential";
  return faultOfAssertion(assertion, challenge, passkey);
}

/** The phone hears of its companion in one form for every stage. */
function tellPhone(needs: Needs, { phone }: Ceremony, body: BinaryNode): void {
  needs.deliver(phone, notification(needs, "companion_linking", [body]));
}

function notification(needs: Stamps, type: string, content: BinaryNode[]): BinaryNode {
  return element("notification", { from: SERVER_JID, type, id: needs.nextId(), t: needs.now() }, content);
}
