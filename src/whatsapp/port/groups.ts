/** A group as WhatsApp tells of it. */
export interface GroupInfo {
  /** `…@g.us` */
  id: string;
  subject: string;
  participants: { id: string; number: string | null; lid: string | null; admin: boolean }[];
  /** Number of members; may be larger than `participants` when WhatsApp sent no list. */
  size: number;
  announce: boolean;
  community: boolean;
  /** It is the announcements of a community. */
  announcements: boolean;
  addressing: "lid" | "pn";
  /** Seconds after which messages disappear; 0: they stay. */
  ephemeral: number;
  /** Of the list of members, to compare changes with; null when WhatsApp names none. */
  version: string | null;
}

/** What WhatsApp tells of a group. */
export type GroupChange = { id: string } &
  /** All of it: it was made, or this number came to it. */
  (
    | { kind: "group"; group: GroupInfo }
    /** This number is no member any more: it left, was removed, or the group is no more. */
    | { kind: "left" }
    /**
     * Members came, went, have another role, or another number (`modify`: one member, who was `was` before). `before` is the version that
     * `version` follows. Null: it does not say.
     */
    | {
        kind: "members";
        action: "add" | "remove" | "promote" | "demote" | "modify";
        members: GroupInfo["participants"];
        was?: GroupInfo["participants"][number] | null;
        /** This number is one of them. */
        own: boolean;
        version: string | null;
        before: string | null;
      }
    | { kind: "subject"; subject: string }
    | { kind: "announce"; announce: boolean }
    | { kind: "ephemeral"; seconds: number }
    /** Something that is not kept here: a description, a picture, an invite link. */
    | { kind: "nothing" }
    /** Anything: it has to be asked for. */
    | { kind: "unknown" }
  );

/** What a number may be in a channel; a guest is nothing yet. */
export const CHANNEL_ROLES = ["owner", "admin", "subscriber", "guest"] as const;
type ChannelRole = (typeof CHANNEL_ROLES)[number];

/** A channel as WhatsApp tells of it. */
export interface ChannelInfo {
  /** `…@newsletter` */
  id: string;
  name: string;
  /** What the number is in it. */
  role: ChannelRole;
}

/** What WhatsApp tells of a channel; what is left out has not changed. */
export interface ChannelChange {
  /** `…@newsletter` */
  id: string;
  name?: string;
  /** What this number is in it now; a guest is nothing any more. */
  role?: ChannelRole;
  /** It is no more. */
  deleted?: true;
  /** Something changed that is not told: it has to be asked for. */
  unknown?: true;
}
