import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { proto } from "@whiskeysockets/baileys/WAProto/index.js";
import { hmac } from "../../signal/kdf.ts";
import { element } from "../../wire/nodes.ts";
import type { Random } from "../../random.ts";
import type { ContentKind } from "./kind.ts";
import { pollOf } from "./poll.ts";

const TAG_BYTES = 16;

/** Whose vote in which poll. The key depends on all of it. Addresses are people's, without a device. */
interface Ballot {
  pollId: string;
  secret: Uint8Array;
  creator: string;
  voter: string;
}

/** A vote for some options, encrypted for those who know the poll's secret. */
export function composeVote(
  key: proto.IMessageKey,
  options: string[],
  ballot: Ballot,
  random: Random,
  now: number,
): proto.IMessage {
  const { PollVoteMessage } = proto.Message;
  const plain = PollVoteMessage.encode({ selectedOptions: options.map(hashOf) }).finish();
  const encIv = random.bytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(ballot), encIv).setAAD(associated(ballot));
  const encPayload = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  const vote = { encPayload, encIv };
  return { pollUpdateMessage: { pollCreationMessageKey: key, vote, senderTimestampMs: now } };
}

/** The options that a vote chose, in the poll's order; undefined when the vote does not belong to this ballot. */
export function openVote(
  vote: proto.Message.IPollEncValue,
  poll: proto.IMessage,
  ballot: Ballot,
): string[] | undefined {
  const payload = Buffer.from(vote.encPayload ?? []);
  if (payload.length < TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv("aes-256-gcm", keyOf(ballot), vote.encIv ?? new Uint8Array());
    decipher.setAAD(associated(ballot)).setAuthTag(payload.subarray(-TAG_BYTES));
    const plain = Buffer.concat([decipher.update(payload.subarray(0, -TAG_BYTES)), decipher.final()]);
    const chosen = proto.Message.PollVoteMessage.decode(plain).selectedOptions.map(hex);
    const names = (pollOf(poll)?.options ?? []).map(({ optionName }) => optionName ?? "");
    return names.filter((name) => chosen.includes(hex(hashOf(name))));
  } catch {
    return undefined;
  }
}

/** `pollUpdateMessage`; what it chose is encrypted. */
export const vote: ContentKind = {
  stanzaType: "poll",
  read: ({ pollUpdateMessage }) =>
    pollUpdateMessage
      ? { kind: "vote", target: pollUpdateMessage.pollCreationMessageKey?.id ?? undefined }
      : undefined,
  envelope: () => ({ nodes: [element("meta", { polltype: "vote" })] }),
};

function keyOf({ pollId, secret, creator, voter }: Ballot): Uint8Array {
  const extracted = hmac(new Uint8Array(32), secret);
  return hmac(extracted, Buffer.from(`${pollId}${creator}${voter}Poll Vote`), Uint8Array.of(1));
}

const associated = ({ pollId, voter }: Ballot): Buffer => Buffer.from(`${pollId}\0${voter}`);
const hashOf = (option: string): Buffer => createHash("sha256").update(option).digest();
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
