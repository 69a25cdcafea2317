import type { BinaryNode } from "../../wire/nodes.ts";
import type { Connection, Device } from "../../world/accounts.ts";

/** One question as a handler sees it. */
export interface IqRequest {
  connection: Connection;
  /** Who asks. Only handlers with `beforeLogin` may meet a connection without one; they use `connection`. */
  device: Device;
  iq: BinaryNode;
  /** The first child: what is asked. */
  body: BinaryNode;
}

/** Answers one kind of IQ. New kinds are added as a file with a list of these. */
export interface IqHandler {
  xmlns: string;
  type: "get" | "set";
  /** Tag of the first child; undefined takes any. */
  child?: string;
  beforeLogin?: boolean;
  /** Gives the children of the result. @throws IqError to refuse, MalformedIq to refuse and record */
  answer(request: IqRequest): BinaryNode[] | Promise<BinaryNode[]>;
}
