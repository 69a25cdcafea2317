import type { Config } from "../config.ts";
import { hideSecret, type Logger } from "../log.ts";
import { createDiskSweep, type DiskSweep } from "../media/disk-sweep.ts";
import { createElsewhere, type Elsewhere } from "../media/elsewhere.ts";
import type { MediaStore } from "../media/media-store.ts";
import { createPeers } from "../media/peers.ts";
import { createS3Store } from "../media/s3.ts";
import type { Store } from "../store/store.ts";

/** Where files of messages lie, by what is set: on this disk, in a store, on the disks of other nodes. */
export interface FilePlaces {
  elsewhere: Elsewhere;
  sweep: DiskSweep;
  /** Null without MEDIA_STORE. */
  media: MediaStore | null;
  /** Closes what it has open. */
  close(): Promise<void>;
}

interface FilePlacesDeps {
  config: Pick<Config, "mediaStore" | "cluster" | "dataDir">;
  log: Logger;
  store: Store;
}

/** Nothing is asked of the store or of other nodes yet. */
export function openFilePlaces({ config, log, store }: FilePlacesDeps): FilePlaces {
  const { mediaStore, cluster, dataDir } = config;
  if (mediaStore !== null) hideSecret(log, mediaStore.secretAccessKey);
  const media = mediaStore === null ? null : createS3Store(mediaStore, store.time);
  const peers = cluster === null ? null : createPeers(cluster.node, store);
  const deps = { store, dataDir, log, media, peers };
  return {
    elsewhere: createElsewhere(deps),
    sweep: createDiskSweep(deps),
    media,
    close: async () => void (await Promise.all([media?.close(), peers?.close()])),
  };
}
