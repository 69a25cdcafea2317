import type { App } from "./services.ts";
import type { Drain } from "./drain.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { WrongKeys } from "./wrong-keys.ts";

declare module "h3" {
  interface H3EventContext {
    app: App;
    drain: Drain;
    /** Fixed on arrival: what came before is answered, however long its route takes to load. */
    cameWhileDraining: boolean;
    rateLimit: RateLimit;
    wrongKeys: WrongKeys;
    requestId?: string;
  }
}
