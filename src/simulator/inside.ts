/**
 * The way into a simulator that runs in this process, for tests that do what no caller of the public methods can: hooks of
 * the server, hand-made stanzas, accounts put in place. Everything else in the simulator is private.
 */
export { makeCertificates } from "./media/certificates.ts";
export { seededRandom, type Random } from "./random.ts";
export { adoptCompanion, recordCompanion, type CompanionRecord } from "./server/linking/adopt.ts";
export { IqError } from "./server/iq-error.ts";
export type { LibrarySimulator } from "./simulator.ts";
export { bytes, child, children, element, text, type BinaryNode } from "./wire/nodes.ts";
export type { Role } from "./world/world.ts";
