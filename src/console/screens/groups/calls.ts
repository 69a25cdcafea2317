import type { Schemas } from "../../../client/index.ts";
import type { Call } from "../../data/index.ts";

/** A group, as `GET /groups/{id}` shows it. */
export type Group = Schemas["GroupDetails"];
/** Somebody in it. */
export type Member = Group["members"][number];
/** Somebody who has asked to join. */
export interface JoinRequest {
  number: string | null;
  lid: string | null;
  at: string;
}
/** What became of one person. */
export interface Outcome {
  number: string;
  status: boolean;
  error?: string;
}
/** What can be done with members. */
export type MemberAction = "add" | "remove" | "promote" | "demote";

/** A group as one of the account's numbers sees it. */
export interface GroupPlace {
  /** The number itself, digits. */
  sender: string;
  /** `…@g.us` */
  id: string;
}

const path = ({ id }: GroupPlace, rest = ""): string => `/groups/${encodeURIComponent(id)}${rest}`;
const read = (place: GroupPlace, rest = ""): Call => ({
  method: "GET",
  path: path(place, rest),
  query: { sender: place.sender },
});
const write = (place: GroupPlace, rest: string, fields: Record<string, unknown> = {}): Call => ({
  method: "POST",
  path: path(place, rest),
  body: { sender: place.sender, ...fields },
});

export const groupCall = (place: GroupPlace): Call => read(place);
export const inviteCall = (place: GroupPlace): Call => read(place, "/invite");
export const requestsCall = (place: GroupPlace): Call => read(place, "/requests");
export const renewInviteCall = (place: GroupPlace): Call => write(place, "/invite");
export const leaveCall = (place: GroupPlace): Call => write(place, "/leave");
export const membersCall = (place: GroupPlace, action: MemberAction, numbers: string[]): Call =>
  write(place, "/participants", { action, numbers });
export const decideCall = (place: GroupPlace, action: "approve" | "reject", numbers: string[]): Call =>
  write(place, "/requests", { action, numbers });

/** @param fields those that are other ones now */
export const changeCall = (place: GroupPlace, fields: Partial<Group>): Call => ({
  method: "PATCH",
  path: path(place),
  body: { sender: place.sender, ...fields },
});

export const createCall = (sender: string, name: string, participants: string[], invite: boolean): Call => ({
  method: "POST",
  path: "/groups/create",
  body: { sender, name, participants, invite },
});

export const joinCall = (sender: string, invite: string): Call => ({
  method: "POST",
  path: "/groups/join",
  body: { sender, invite },
});

/** How the API names somebody. */
export const nameOf = ({ number, lid }: Pick<Member, "number" | "lid">): string => number ?? lid ?? "";

/** Numbers that somebody has written one per line, or with commas. Each as digits; a LID as it is. */
export const numbersIn = (text: string): string[] =>
  text
    .split(/[\n,;]+/)
    .map((one) => one.trim())
    .filter((one) => one !== "")
    .map((one) => (one.includes("@") ? one : one.replaceAll(/[^\d]/g, "")))
    .filter((one) => one !== "");
