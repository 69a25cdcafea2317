import type { MediaTrouble } from "../media/trouble.ts";
import type { MediaTarget } from "../surface/faults.ts";
import { Armed } from "./fault.ts";
import type { FaultKit, FaultNeeds } from "./fault.ts";

/** Everything that can go wrong between a client and the media host. */
export function media({
  hooks,
  transcript,
  media,
}: Pick<FaultNeeds, "hooks" | "transcript" | "media">): FaultKit<
  "mediaStatus" | "mediaSlow" | "mediaBroken" | "mediaGone"
> {
  const armed = new Armed();
  const spoiled: { gone?: number; recall?: unknown }[] = [];
  const trouble = (target: MediaTarget, times: number, what: MediaTrouble): void => {
    let left = times;
    const disarm = armed.arm(hooks.media, (direction, type) => {
      if (direction !== target.direction || (target.type ?? type) !== type) return undefined;
      if ((left -= 1) <= 0) disarm();
      return what;
    });
  };
  return {
    methods: {
      async mediaStatus({ status, times = 1, ...target }) {
        trouble(target, times, { status });
      },
      async mediaSlow({ delayMs, bytesPerSecond, times = Infinity, ...target }) {
        trouble(target, times, { delayMs, bytesPerSecond });
      },
      async mediaBroken({ how, times = 1, type }) {
        trouble({ direction: "download", type }, times, { broken: how });
      },
      async mediaGone({ id, status = 404, reupload = "again" }) {
        const entry = transcript.entries({ id }).findLast((candidate) => candidate.media);
        const file = media.find(entry?.media?.directPath ?? "");
        if (!file) throw new Error(`no message ${id} with a file at the media host`);
        Object.assign(file, { gone: status, recall: reupload });
        spoiled.push(file);
      },
    },
    clear() {
      armed.clear();
      for (const file of spoiled.splice(0)) {
        delete file.gone;
        delete file.recall;
      }
    },
  };
}
