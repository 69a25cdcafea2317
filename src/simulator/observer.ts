import type { Device } from "./server/device.ts";
import type { SimulatorServer } from "./server/server.ts";
import type * as Types from "./types.ts";

const DEFAULT_WAIT_MS = 10_000;

/** What can be seen of a running simulator, and waited for; see {@link Types.Simulator}. */
export class Observer {
  readonly server: SimulatorServer;

  constructor(server: SimulatorServer) {
    this.server = server;
  }

  async companions(number: string): Promise<Types.CompanionInfo[]> {
    return this.#companionsOf(number).map(companionInfo);
  }

  async transcript(filter?: Types.TranscriptFilter): Promise<Types.TranscriptEntry[]> {
    return this.server.transcript.entries(filter).map((entry) => ({ ...entry }));
  }

  async messages(contact: string, filter: Types.MessageFilter = {}): Promise<Types.ArrivedMessage[]> {
    return this.#arrived(contact, filter);
  }

  async accepted(filter: Types.AcceptedFilter = {}): Promise<Types.AcceptedMessage[]> {
    const { world, accepted, transcript } = this.server;
    return accepted
      .all()
      .map((taken) => ({ ...taken, ...(transcript.bodyOf(taken.from, taken.id) ?? { kind: "unknown" }) }))
      .filter(
        (message) =>
          (filter.from === undefined || message.from === filter.from) &&
          (filter.by === undefined || world.accounts.get(message.from)?.kind === filter.by) &&
          (filter.chat === undefined || message.chat === filter.chat) &&
          (filter.id === undefined || message.id === filter.id) &&
          (filter.kind === undefined || message.kind === filter.kind),
      );
  }

  async arrivals(filter: Types.ArrivalFilter = {}): Promise<Types.Arrival[]> {
    const contacts = [...this.server.world.accounts.values()].filter(({ kind }) => kind === "contact");
    return contacts
      .filter(({ number }) => filter.contact === undefined || number === filter.contact)
      .flatMap(({ number }) => arrivalsAt(number, this.server.transcript.arrivedAt(number)))
      .filter(
        (arrival) =>
          (filter.from === undefined || arrival.from === filter.from) &&
          (filter.chat === undefined || arrival.chat === filter.chat) &&
          (filter.kind === undefined || arrival.kind === filter.kind),
      )
      .toSorted((one, other) => one.seq - other.seq);
  }

  async waitForMessage(
    contact: string,
    filter: Types.WaitFilter = {},
    timeoutMs = DEFAULT_WAIT_MS,
  ): Promise<Types.ArrivedMessage> {
    const wanted = filter.count ?? 1;
    const found = () => this.#arrived(contact, filter);
    if (await this.server.until(() => found().length >= wanted, timeoutMs)) return found()[wanted - 1]!;
    const seen = this.#arrived(contact, {}).slice(-5);
    throw new Error(
      `${contact} did not get ${JSON.stringify(filter)} within ${timeoutMs} ms; it got ${JSON.stringify(seen)}`,
    );
  }

  async stanzas(filter?: Types.StanzaFilter): Promise<Types.StanzaEntry[]> {
    return this.server.stanzas.find(filter);
  }

  async countStanzas(filter?: Types.StanzaFilter): Promise<number> {
    return this.server.stanzas.count(filter);
  }

  async violations(): Promise<Types.Violation[]> {
    return this.server.violations.all();
  }

  async expectViolation(
    rule: string,
    { timeoutMs = DEFAULT_WAIT_MS }: { timeoutMs?: number } = {},
  ): Promise<Types.Violation[]> {
    const { violations } = this.server;
    const happened = () => violations.all().some((violation) => violation.rule === rule);
    if (await this.server.until(happened, timeoutMs)) return violations.take(rule);
    throw new Error(
      `no violation of ${rule} within ${timeoutMs} ms, only ${JSON.stringify(violations.all())}`,
    );
  }

  async settle(timeoutMs = DEFAULT_WAIT_MS): Promise<void> {
    const unacknowledged = () =>
      this.#devices().flatMap((device) =>
        device.queue
          .waiting()
          .filter(({ sentOn }) => sentOn !== undefined && sentOn === device.connection)
          .map(({ node }) => ({ device, node })),
      );
    if (await this.server.until(() => unacknowledged().length === 0, timeoutMs)) return;
    for (const { device, node } of unacknowledged()) {
      const { id, from, type } = node.attrs;
      this.server.violations.report(
        "missing_ack",
        device.label,
        `${node.tag} ${type ?? ""} ${id} from ${from}`,
      );
    }
  }

  async online(number: string, device?: number): Promise<boolean> {
    return this.#companionsOf(number, device).some(({ active }) => active);
  }

  async waitOnline(number: string, timeoutMs = DEFAULT_WAIT_MS): Promise<void> {
    const online = () => this.#companionsOf(number).some(({ active }) => active);
    if (!(await this.server.until(online, timeoutMs))) {
      throw new Error(`no companion of ${number} came online within ${timeoutMs} ms`);
    }
  }

  async pending(number: string, device?: number): Promise<number> {
    return this.#companionsOf(number, device).reduce((sum, { queue }) => sum + queue.size, 0);
  }

  #arrived(contact: string, filter: Types.WaitFilter): Types.ArrivedMessage[] {
    const { number } = this.server.world.account(contact);
    const from = filter.from && this.server.world.account(filter.from).number;
    return this.server.transcript
      .arrivedAt(number)
      .filter(
        (message) =>
          (filter.repeated === true || !message.repeated) &&
          (from === undefined || message.from === from) &&
          (filter.chat === undefined || message.chat === filter.chat) &&
          (filter.id === undefined || message.id === filter.id) &&
          (filter.text === undefined || message.text === filter.text) &&
          (filter.kind === undefined || message.kind === filter.kind) &&
          (filter.target === undefined || message.target === filter.target) &&
          (filter.since === undefined || message.seq > filter.since),
      );
  }

  #devices(): Device[] {
    return [...this.server.world.accounts.values()].flatMap(({ devices }) => [...devices.values()]);
  }

  #companionsOf(number: string, device?: number): Device[] {
    const devices = [...this.server.world.account(number).devices.values()];
    return devices.filter(({ id }) => (device === undefined ? id !== 0 : id === device));
  }

  /** @throws when the number has no such companion */
  protected companion(number: string, device: number): Types.CompanionInfo {
    const found = this.#companionsOf(number, device)[0];
    if (!found) throw new Error(`${number} has no companion ${device}`);
    return companionInfo(found);
  }
}

/** One row for each message, with how often it came and its place in its chat. */
function arrivalsAt(contact: string, rows: readonly Types.ArrivedMessage[]): Types.Arrival[] {
  const found = new Map<string, Types.Arrival>();
  const places = new Map<string, number>();
  for (const row of rows) {
    const name = `${row.from} ${row.id}`;
    const known = found.get(name);
    if (known) {
      known.times += 1;
      continue;
    }
    const place = (places.get(row.chat) ?? 0) + 1;
    places.set(row.chat, place);
    found.set(name, { ...row, contact, times: 1, place });
  }
  return [...found.values()];
}

function companionInfo(device: Device): Types.CompanionInfo {
  return { device: device.id, jid: device.pn, online: device.active, preKeys: device.preKeys.size };
}
