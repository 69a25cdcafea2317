import type { Fault } from "../drill.ts";
import type { Service } from "../network.ts";
import { anyNode } from "./nodes.ts";
import { pause } from "./pause.ts";

const CUT_MS = 25_000;

/** The cable between a node and a service is cut, and mended when the others have answered for it, or after a while. */
const cut = (service: Service, isAnsweredMeanwhile: boolean): Fault => ({
  name: `cut-${service}`,
  what: `the network between a node and ${NAMES[service]} is cut, and mended`,
  ...(service === "database" && { database: true }),
  async run(strike) {
    const { node: victim, hit } = await anyNode(strike);
    const { network } = strike.cluster;
    network.cut(victim.index, service);
    try {
      await strike.struck(hit);
      await Promise.all([isAnsweredMeanwhile ? strike.answered() : undefined, pause(CUT_MS)]);
    } finally {
      network.mend(victim.index, service);
    }
    await strike.answered();
  },
});

const NAMES: Record<Service, string> = {
  database: "the database",
  redis: "Redis",
  whatsapp: "WhatsApp",
  clients: "its clients",
};

export const CUTS = [cut("database", true), cut("redis", true), cut("whatsapp", false)];
