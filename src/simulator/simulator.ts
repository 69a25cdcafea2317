import { createAccountMethods } from "./driver/accounts.ts";
import { createAppStateMethods } from "./driver/app-state.ts";
import { createChannelMethods } from "./driver/channels.ts";
import { createConversations } from "./driver/conversations.ts";
import { createEvidence } from "./driver/evidence.ts";
import { createGroupMethods } from "./driver/groups.ts";
import type { Population } from "./driver/population.ts";
import { createProfileMethods } from "./driver/profiles.ts";
import { createWireMethods } from "./driver/wire.ts";
import type { FileHost } from "./people/link.ts";
import type { SimulatorServer } from "./server/server.ts";
import type { SimulatorFaults } from "./surface/faults.ts";
import type { Simulator, SimulatorAddresses } from "./surface/simulator.ts";

/** A simulator in this process. Its own tests, and a few of the gateway's, reach into the server. */
export interface LibrarySimulator extends Simulator {
  readonly server: SimulatorServer;
}

/** The parts of a simulator. */
interface SimulatorParts {
  server: SimulatorServer;
  population: Population;
  faults: SimulatorFaults;
  files: FileHost;
  addresses: SimulatorAddresses;
  stop(): Promise<void>;
}

/** Combines everything a caller can do into one object. */
export function createSimulator(parts: SimulatorParts): LibrarySimulator {
  const { server, population, faults, files, addresses, stop } = parts;
  const needs = { ...server, population, files, methods: (): LibrarySimulator => simulator };
  const simulator: LibrarySimulator = {
    ...addresses,
    ...createAccountMethods(needs),
    ...createGroupMethods(needs),
    ...createChannelMethods(needs),
    ...createConversations(needs),
    ...createAppStateMethods(needs),
    ...createProfileMethods(needs),
    ...createEvidence(needs),
    ...createWireMethods(needs),
    faults,
    server,
    stop,
  };
  return simulator;
}
