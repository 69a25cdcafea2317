import type { Link } from "../people/link.ts";
import type { DeviceAddress } from "../people/address.ts";
import { element } from "../wire/nodes.ts";
import type { BinaryNode } from "../wire/nodes.ts";
import { OpenQueries } from "./open-queries.ts";
import type { Backlog } from "./delivery/backlog.ts";
import type { Stamps, StanzaHandler } from "./ports.ts";
import type { StanzaLog } from "./stanza-log.ts";
import type { World } from "../world/world.ts";
import { Device } from "../world/accounts.ts";
import type { Connection } from "../world/accounts.ts";

interface Needs extends Pick<Stamps, "nextId">, Backlog {
  world: World;
  stanzas: StanzaLog;
  connections: Set<Connection>;
  route: StanzaHandler;
  /** Told once, when the connection has ended. */
  disconnected(connection: Connection): void;
}

/** A simulated phone's connection: stanzas in memory, each direction in order, never within the caller's own call. */
class LinkConnection implements Connection {
  device: Device | undefined;
  closed = false;
  receive: ((node: BinaryNode) => void) | undefined;
  readonly #needs: Needs;
  /** IQs of the phone that wait for the server's answer. */
  readonly #asked = new OpenQueries();
  /** IQs of the server that wait for the phone's answer. */
  readonly #asking = new OpenQueries();
  #lastId = 0;

  constructor(needs: Needs, device: Device) {
    this.#needs = needs;
    this.device = device;
  }

  send(node: BinaryNode): void {
    if (this.closed || !this.device) return;
    this.#needs.stanzas.record("out", this.device, node);
    queueMicrotask(() => {
      if (!this.closed && !this.#asked.answer(node)) this.receive?.(node);
    });
  }

  query(iq: BinaryNode): Promise<BinaryNode> {
    const id = iq.attrs.id ?? this.#needs.nextId();
    const answer = this.#asking.wait(id);
    this.send(element(iq.tag, { ...iq.attrs, id }, iq.content));
    return answer;
  }

  /** A stanza of the phone. */
  take(node: BinaryNode): void {
    if (this.closed || !this.device) throw new Error("the link is closed");
    this.#needs.stanzas.record("in", this.device, node);
    queueMicrotask(() => {
      // Whatever the phone sent before it went to sleep has left it all the same.
      if (!this.#asking.answer(node)) this.#needs.route(this, node);
    });
  }

  /** An IQ of the phone. */
  async ask(iq: BinaryNode): Promise<BinaryNode> {
    const id = iq.attrs.id ?? `link-${++this.#lastId}`;
    const answer = this.#asked.wait(id);
    this.take(element(iq.tag, { ...iq.attrs, id }, iq.content));
    return await answer;
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.#asked.abandon();
    this.#asking.abandon();
    this.#needs.disconnected(this);
  }

  cut(): void {
    this.close();
  }
}

/** Connects one device of an account, creating the device if need be. @throws for an unknown account */
export function attachLink(needs: Needs, address: DeviceAddress): Link {
  const account = needs.world.account(address.user);
  const device = account.devices.get(address.device) ?? new Device(account, address.device);
  account.devices.set(device.id, device);
  account.nextDevice = Math.max(account.nextDevice, device.id + 1);
  device.listed = true;
  device.connection?.close();
  const connection = new LinkConnection(needs, device);
  needs.connections.add(connection);
  device.connection = connection;
  return {
    send: (node) => connection.take(node),
    query: (iq) => connection.ask(iq),
    onNode(receive) {
      connection.receive = receive;
      device.seen = true;
      device.active = true;
      queueMicrotask(() => {
        if (!connection.closed) needs.flushOffline(device);
      });
    },
    close: () => connection.close(),
  };
}
