import type { BinaryNode, WASocket } from "@whiskeysockets/baileys";
import { verifiedNameIn } from "../content/verified-name.ts";
import { childOf, childrenOf, textOf } from "../nodes.ts";
import {
  NotBlockable,
  type BusinessDetails,
  type BusinessHours,
  type ContactDetails,
} from "../port/contacts.ts";
import { isLid, isPn, userOf, withoutDevice } from "../jids.ts";
import { askAboutUsers, limited, refusalCode } from "./questions.ts";
import { Unanswered } from "./unanswered.ts";

type Socket = Pick<WASocket, "query" | "generateMessageTag" | "profilePictureUrl">;

/** More than phones let anybody write; the rest is cut off. */
const LONGEST_LINE = 4_096;
const MOST_HOURS = 50;
/** No picture; none for this number; none any more. */
const NO_PICTURE = new Set([401, 403, 404, 410]);

/**
 * What WhatsApp shows of a person. Source of the nodes: whatsmeow `user.go` (`GetUserInfo`, `GetBusinessProfile`).
 *
 * @throws {RateOverlimit}, {Unanswered}
 */
export async function askForDetails(socket: Socket, jid: string): Promise<ContactDetails> {
  const query = [
    { tag: "business", attrs: {}, content: [{ tag: "verified_name", attrs: {} }] },
    { tag: "status", attrs: {} },
  ];
  const answer = await askAboutUsers(socket, query, [{ tag: "user", attrs: { jid } }]);
  const user = childrenOf(childOf(childOf(answer, "usync"), "list")).find(({ tag }) => tag === "user");
  if (answer === undefined) throw new Unanswered("what WhatsApp shows of a person");
  const business = childOf(user, "business");
  return {
    about: lineOf(user, "status"),
    pictureUrl: await pictureOf(socket, jid),
    verifiedName: business === undefined ? null : verifiedNameIn(childrenOf(business)),
    business: business === undefined ? null : await businessOf(socket, jid),
  };
}

async function pictureOf(socket: Socket, jid: string): Promise<string | null> {
  try {
    return (await limited(socket.profilePictureUrl(jid, "image"))) ?? null;
  } catch (error) {
    if (NO_PICTURE.has(refusalCode(error))) return null;
    throw error;
  }
}

async function businessOf(socket: Socket, jid: string): Promise<BusinessDetails> {
  const asked: BinaryNode = {
    tag: "business_profile",
    attrs: { v: "244" },
    content: [{ tag: "profile", attrs: { jid } }],
  };
  const answer = await limited(
    socket.query({
      tag: "iq",
      attrs: { to: "s.whatsapp.net", xmlns: "w:biz", type: "get" },
      content: [asked],
    }),
  );
  const profile = childOf(childOf(answer as BinaryNode | undefined, "business_profile"), "profile");
  return {
    description: lineOf(profile, "description"),
    website: lineOf(profile, "website"),
    email: lineOf(profile, "email"),
    address: lineOf(profile, "address"),
    hours: hoursOf(childOf(profile, "business_hours")),
  };
}

const lineOf = (node: BinaryNode | undefined, tag: string): string | null =>
  textOf(childOf(node, tag)).slice(0, LONGEST_LINE) || null;

function hoursOf(node: BinaryNode | undefined): BusinessHours | null {
  if (node === undefined) return null;
  const days = childrenOf(node).filter(({ tag }) => tag === "business_hours_config");
  return {
    timezone: node.attrs["timezone"] ?? null,
    days: days.slice(0, MOST_HOURS).map(({ attrs }) => ({
      day: attrs["day_of_week"] ?? "",
      mode: attrs["mode"] ?? "",
      open: clockTime(attrs["open_time"]),
      close: clockTime(attrs["close_time"]),
    })),
  };
}

/** @param minutes since midnight */
function clockTime(minutes: string | undefined): string | null {
  if (minutes === undefined || !/^\d{1,4}$/.test(minutes)) return null;
  const count = Number(minutes);
  return `${String(Math.floor(count / 60)).padStart(2, "0")}:${String(count % 60).padStart(2, "0")}`;
}

/**
 * Blocks somebody, or lets him in again. WhatsApp takes the LID, and for blocking the number as well.
 *
 * @throws {NotBlockable} when one of them is not known
 */
export async function setBlocked(
  { updateBlockStatus, signalRepository }: Pick<WASocket, "updateBlockStatus" | "signalRepository">,
  jid: string,
  blocked: boolean,
): Promise<void> {
  const { lidMapping } = signalRepository;
  const address = withoutDevice(jid);
  const other = isPn(address) ? await lidMapping.getLIDForPN(address) : await lidMapping.getPNForLID(address);
  const isComplete = other || (isLid(address) && !blocked);
  if (!isComplete) throw new NotBlockable(`One address of ${userOf(address)} is not known.`);
  await updateBlockStatus(address, blocked ? "block" : "unblock");
}
