import type { App } from "./services.ts";
import type { Asker } from "./access/authenticate.ts";
import type { Console } from "./console.ts";
import type { Drain } from "./drain.ts";
import type { RateLimit } from "./access/rate-limit.ts";
import type { WrongKeys } from "./access/wrong-keys.ts";

declare module "h3" {
  interface H3EventContext {
    app: App;
    drain: Drain;
    /** Fixed on arrival: what came before is answered, however long its route takes to load. */
    cameWhileDraining: boolean;
    rateLimit: RateLimit;
    wrongKeys: WrongKeys;
    /** Undefined in tests that run routes without a server. */
    console?: Console;
    requestId?: string;
    /** By a request that usually changes nothing. */
    hasChanged?: boolean;
    /** Who this request has signed in. */
    signedIn?: Asker;
  }
}
