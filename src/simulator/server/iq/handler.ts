import type { BinaryNode } from "../../wire/nodes.ts";
import type { Connection, Device } from "../../world/accounts.ts";

/** An IQ as its handler sees it. */
export interface IqRequest {
  connection: Connection;
  /** The asker. Only handlers with `beforeLogin` may be called without one; they use `connection`. */
  device: Device;
  iq: BinaryNode;
  /** The first child: what is asked. */
  body: BinaryNode;
}

/** Answers one kind of IQ. */
export interface IqHandler {
  xmlns: string;
  type: "get" | "set";
  /** Tag of the first child; undefined matches any. */
  child?: string;
  beforeLogin?: boolean;
  /** Returns the children of the result. @throws IqError to refuse, MalformedIq to refuse and record a violation */
  answer(request: IqRequest): BinaryNode[] | Promise<BinaryNode[]>;
}
