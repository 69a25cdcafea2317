import { ChannelDesk } from "./channel-desk.ts";
import { contactHandle, numberHandle } from "./handles.ts";
import type { AccountNames } from "./handles.ts";
import type { Population } from "./population.ts";
import { announceGroup, applyGroupChange, newGroupId } from "./server/groups.ts";
import type { SimulatorServer } from "./server/server.ts";
import type * as Types from "./types.ts";
import type { Account, Group, Role } from "./world.ts";

/** The simulator in this process; see {@link Types.Simulator} for what each method does. */
export class LibrarySimulator extends ChannelDesk implements Types.Simulator {
  wsUrl = "";
  controlUrl = "";
  mediaUrl = "";
  ca = "";
  caFile = "";
  readonly noiseRoot: string;
  readonly faults: Types.SimulatorFaults;
  readonly #closers: (() => Promise<void>)[] = [];

  constructor(server: SimulatorServer, population: Population, faults: Types.SimulatorFaults) {
    super(server, population);
    this.faults = faults;
    this.noiseRoot = server.identity.rootPublicKey.toString("hex");
  }

  /** Something to close at the end, the last first. */
  onStop(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  async addNumber(number: string, options: Types.NumberOptions = {}): Promise<Types.NumberHandle> {
    return numberHandle(this, namesOf(this.population.addOwner(number, options)));
  }

  async addContact(number: string, options: Types.ContactOptions = {}): Promise<Types.ContactHandle> {
    return contactHandle(this, namesOf(this.population.addContact(number, options)));
  }

  async addContacts(
    count: number,
    { prefix, ...options }: { prefix: string } & Types.ContactOptions,
  ): Promise<string[]> {
    return Array.from({ length: count }, (_, index) => {
      const number = `${prefix}${String(index + 1).padStart(5, "0")}`;
      return this.population.addContact(number, options).number;
    });
  }

  async number(number: string): Promise<Types.NumberHandle> {
    this.population.owner(number);
    return numberHandle(this, namesOf(this.server.world.account(number)));
  }

  async contact(number: string): Promise<Types.ContactHandle> {
    this.population.contact(number);
    return contactHandle(this, namesOf(this.server.world.account(number)));
  }

  async addGroup(options: Types.GroupOptions): Promise<Types.GroupInfo> {
    const { server } = this;
    const creator = options.creator ?? options.members[0];
    if (!creator) throw new Error("a group needs a creator or a member");
    const members = new Map<string, Role>([[creator, "superadmin"]]);
    for (const number of options.members) if (number !== creator) members.set(number, "member");
    for (const number of options.admins ?? []) if (number !== creator) members.set(number, "admin");
    for (const number of members.keys()) server.world.account(number);
    const createdAt = Math.floor(server.clock() / 1000);
    const group: Group = {
      id: newGroupId(server, server.world.groups.size + 1),
      subject: options.subject,
      createdAt,
      subjectAt: createdAt,
      creator,
      addressing: options.addressing ?? "lid",
      announce: options.announce ?? false,
      locked: options.locked ?? false,
      description: options.description,
      ephemeral: options.ephemeral,
      isCommunity: options.community?.parent ?? false,
      isCommunityAnnouncements: options.community?.announcements ?? false,
      linkedParent: options.community?.linkedParent,
      members,
    };
    server.world.groups.set(group.id, group);
    announceGroup(server, group);
    return this.#groupInfo(group);
  }

  async changeGroup(id: string, change: Types.GroupChange): Promise<Types.GroupInfo> {
    const group = this.server.world.group(id);
    applyGroupChange(this.server, group, change);
    return this.#groupInfo(group);
  }

  async group(id: string): Promise<Types.GroupInfo> {
    return this.#groupInfo(this.server.world.group(id));
  }

  async scan(number: string, qrText: string): Promise<Types.CompanionInfo> {
    const { device } = await this.population.owner(number).scan(qrText);
    return this.companion(number, device);
  }

  async enterPairingCode(number: string, code: string): Promise<Types.CompanionInfo> {
    const { device } = await this.population.owner(number).enterPairingCode(code.replaceAll("-", ""));
    return this.companion(number, device);
  }

  async logoutCompanion(number: string, device: number): Promise<void> {
    this.companion(number, device);
    await this.population.owner(number).removeCompanion(device);
  }

  async stop(): Promise<void> {
    this.population.sleep();
    this.server.close();
    for (const close of this.#closers.splice(0).toReversed()) await close();
  }

  #groupInfo({ id, subject, addressing, announce, members }: Group): Types.GroupInfo {
    const list = [...members].map(([number, role]) => {
      return { number, lid: namesOf(this.server.world.account(number)).lid, role };
    });
    return { id, subject, addressing, announce, members: list };
  }
}

function namesOf(account: Account): AccountNames {
  const { number } = account;
  const phone = account.devices.get(0)!;
  return { number, jid: phone.pn, lid: phone.lid };
}
