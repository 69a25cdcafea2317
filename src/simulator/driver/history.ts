import type { KnownChat, KnownHistory } from "../people/people.ts";
import type { Random } from "../random.ts";
import { isGroupJid, isLidJid } from "../world/jid.ts";
import type { HistoryChat, HistoryMessage, HistoryOptions } from "../surface/history.ts";
import { userJid } from "../world/accounts.ts";
import type { World } from "../world/world.ts";

/** Age of a chat's first message when no time is given, in seconds. */
const AN_HOUR = 3600;

/**
 * What an owner's phone knows about the time before linking, in today's addresses.
 *
 * @param owner  his number
 * @param now  Unix seconds
 * @throws when a chat's partner does not exist
 */
export function historyOf(
  world: World,
  owner: string,
  { pairs = [], chats = [], recent = [], older = [], pushNames = [] }: HistoryOptions,
  random: Random,
  now: number,
): KnownHistory {
  const everybody = [...world.accounts.values()];
  const known = pairs === "known" ? everybody.filter((one) => !one.hidesNumber) : pairs;
  const named = pushNames === "known" ? everybody : pushNames;
  const asKnown = (kind: string, given: HistoryChat[]): KnownChat[] =>
    given.map((chat, index) => knownChat(world, owner, chat, random.fork(`${kind}:${index}`), now));
  return {
    pairs: known.map(({ number, lid }) => ({ number, lid: lid.split("@")[0]! })),
    chats: asKnown("chat", chats),
    recent: asKnown("recent", recent),
    older: asKnown("older", older),
    pushNames: named.map(({ number, name }) => {
      const account = world.account(number);
      return { jid: userJid(account, account.hidesNumber ? "lid" : "pn"), name };
    }),
  };
}

function knownChat(world: World, owner: string, chat: HistoryChat, random: Random, now: number): KnownChat {
  const { name, unread, disappearing } = chat;
  const group = isGroupJid(chat.with) ? world.group(chat.with) : undefined;
  const partner = group ? undefined : world.account(chat.with);
  const authorOf = ({ fromMe, from }: HistoryMessage) => {
    if (fromMe) return {};
    if (!group) return { name: partner!.name };
    if (from === undefined) return {};
    const author = world.account(from);
    return { participant: userJid(author, group.addressing), name: author.name };
  };
  const messages = chat.messages.map(({ from, ...message }, index) => ({
    ...message,
    ...authorOf({ ...message, from }),
    id: message.id ?? `3A${random.bytes(9).toString("hex").toUpperCase()}`,
    fromMe: message.fromMe ?? false,
    timestamp: message.timestamp ?? now - AN_HOUR + index,
  }));
  if (group) return { jid: group.id, name: name ?? group.subject, unread, messages };
  const isByLid = partner!.hidesNumber || isLidJid(chat.with);
  const [pn, lid] = [userJid(partner!, "pn"), userJid(partner!, "lid")];
  const token = world.privacyTokens.get(`${partner!.number} ${owner}`);
  const said = { name: name ?? partner!.name, unread, disappearing, token, messages };
  if (!isByLid) return { jid: pn, lidJid: lid, ...said };
  const pnJid = partner!.hidesNumber ? undefined : pn;
  return { jid: lid, pnJid, ...said };
}
