import { bytes } from "../../wire/nodes.ts";
import { MalformedIq } from "../iq-error.ts";
import type { Passkeys } from "../linking/passkeys.ts";
import type { Pairing } from "../linking/pairing.ts";
import type { IqHandler, IqRequest } from "./handler.ts";

interface Needs {
  passkeys: Passkeys;
  pairing: Pick<Pairing, "newReference">;
}

/** Linking with a passkey (`md`), asked by companions before login and by phones. */
export const createPasskeyHandlers = ({ passkeys, pairing }: Needs): IqHandler[] => [
  { ...ask("get", "passkey_request_options"), answer: ({ connection }) => passkeys.options(connection) },
  { ...ask("get", "ref"), answer: ({ connection }) => pairing.newReference(connection) },
  {
    ...ask("set", "passkey_prologue"),
    answer: ({ connection, body }) => passkeys.prologue(connection, body),
  },
  { ...ask("set", "companion_nonce"), answer: forward(passkeys, 32) },
  { ...ask("set", "encrypted_pairing_request"), answer: forward(passkeys) },
  {
    xmlns: "md",
    type: "set",
    child: "primary_ephemeral_identity",
    answer({ device, body }) {
      if (device.id !== 0) throw new MalformedIq("only a phone answers a companion");
      return passkeys.primaryIdentity(device, body);
    },
  },
];

const ask = (type: "get" | "set", child: string) =>
  ({ xmlns: "md", type, child, beforeLogin: true }) as const;

/** @param length of the content in bytes; any when left out */
const forward =
  (passkeys: Passkeys, length?: number) =>
  ({ connection, body }: IqRequest) => {
    const content = bytes(body);
    if (!content || (length !== undefined && content.length !== length))
      throw new MalformedIq(`${body.tag} of ${content?.length ?? 0} bytes`);
    return passkeys.forward(connection, body);
  };
