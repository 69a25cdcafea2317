import type { BinaryNode } from "../../wire/nodes.ts";
import type { Connection } from "../connection.ts";
import type { Device } from "../device.ts";
import type { SimulatorServer } from "../server.ts";

/** One question as a handler sees it. */
export interface IqRequest {
  server: SimulatorServer;
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
